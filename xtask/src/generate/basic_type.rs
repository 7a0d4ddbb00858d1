//! `base::BasicType`, `base::TypeClass` and `base::Scalar`.

use std::fmt::Write as _;

use super::spec::{Datatype, Size, Spec};
use super::{names, template};
use crate::Outcome;

/// The text of `basic_type.rs`: one variant per distinct handle, under the name that is not an alias.
pub fn text(spec: &Spec) -> Outcome<String> {
    check_operations(spec)?;
    let types: Vec<_> = spec.datatypes.datatypes.iter().filter(|row| row.alias_of.is_none()).collect();
    let mut variants = String::new();
    let mut all = String::new();
    let mut rows = String::new();
    for row in &types {
        let variant = names::camel(&row.name);
        let size = size(row)?;
        let class = match &row.class {
            Some(class) => format!("Some(TypeClass::{})", names::camel(class)),
            None => "None".to_owned(),
        };
        let (name, handle, align) = (&row.name, row.abi, row.align);
        let (extent, index_offset) = (row.extent.unwrap_or(size), row.index_offset.unwrap_or(0));
        writeln!(variants, "/// `{name}`{}.\n{variant},", describe(row))?;
        writeln!(all, "Self::{variant},")?;
        writeln!(
            rows,
            "row({name:?}, {handle:#x}, [{size}, {extent}, {align}, {index_offset}], {class}, Scalar::{}),",
            scalar(row)?
        )?;
    }
    let (classes, legal) = classes(spec)?;
    let (all, count) = (&all, &types.len().to_string());
    Ok(template::filled(
        include_str!("templates/basic_type.rs"),
        &[
            ("ALL", all),
            ("CLASSES", &classes),
            ("COUNT", count),
            ("LEGAL", &legal),
            ("ROWS", &rows),
            ("VARIANTS", &variants),
        ],
    ))
}

/// The C type, for the variant's documentation.
fn describe(row: &Datatype) -> String {
    match (&row.c_type, &row.value_type, &row.index_type) {
        (Some(c_type), ..) => format!(", `{c_type}`"),
        (None, Some(value), Some(index)) => format!(", a pair of `{value}` and `{index}`"),
        _ => String::new(),
    }
}

fn size(row: &Datatype) -> Outcome<u64> {
    match &row.size {
        Size::Fixed(size) => Ok(*size),
        Size::ByTarget(sizes) => {
            let size = *sizes.values().next().ok_or_else(|| format!("{} has no size", row.name))?;
            if sizes.values().any(|other| *other != size) {
                return Err(
                    format!("the size of {} depends on the target: teach the generator", row.name).into()
                );
            }
            Ok(size)
        }
    }
}

/// What one element is to the processor, from its class and size.
///
/// A type without a class takes part in no reduction; its bytes are only moved.
fn scalar(row: &Datatype) -> Outcome<String> {
    let bits = size(row)? * 8;
    let c_type = row.c_type.as_deref().unwrap_or_default();
    let long_double = c_type.contains("long double");
    Ok(match row.class.as_deref() {
        Some("c_integer") if c_type.starts_with('u') => format!("U{bits}"),
        Some("c_integer" | "fortran_integer" | "multi_language") => format!("I{bits}"),
        Some("floating_point") if long_double => "LongDouble".to_owned(),
        Some("floating_point") => format!("F{bits}"),
        Some("complex") if long_double => "ComplexLongDouble".to_owned(),
        Some("complex") => format!("ComplexF{}", bits / 2),
        Some("logical") if matches!(c_type, "bool" | "_Bool") => "Bool".to_owned(),
        Some("logical") => format!("Logical{bits}"),
        Some("byte") | None => format!("U{bits}"),
        Some("pair") => format!("Pair(Pair::{})", pair(row)?),
        Some(other) => return Err(format!("{}: unknown class {other}", row.name).into()),
    })
}

fn pair(row: &Datatype) -> Outcome<String> {
    let name = |c_type: &Option<String>| -> Outcome<&'static str> {
        Ok(match c_type.as_deref() {
            Some("float" | "REAL") => "F32",
            Some("double" | "DOUBLE PRECISION") => "F64",
            Some("long double") => "LongDouble",
            Some("short") => "I16",
            Some("int" | "INTEGER") => "I32",
            Some("long") => "I64",
            other => return Err(format!("{}: unknown part {other:?}", row.name).into()),
        })
    };
    Ok(format!("{}{}", name(&row.value_type)?, name(&row.index_type)?))
}

/// The specification says which operations are legal twice, by class and by type: they must agree.
fn check_operations(spec: &Spec) -> Outcome {
    for row in &spec.datatypes.datatypes {
        for (op, classes) in &spec.datatypes.op_classes {
            let by_class = row.class.as_ref().is_some_and(|class| classes.contains(class));
            if by_class != row.ops.contains(op) {
                return Err(
                    format!("spec/datatypes.json contradicts itself about {op} on {}", row.name).into()
                );
            }
        }
    }
    Ok(())
}

/// The classes, and the types on which each operation is legal by them.
fn classes(spec: &Spec) -> Outcome<(String, String)> {
    let mut classes: Vec<&str> = Vec::new();
    for row in &spec.datatypes.datatypes {
        if let Some(class) = row.class.as_deref().filter(|class| !classes.contains(class)) {
            classes.push(class);
        }
    }
    classes.sort_unstable();
    let mut variants = String::new();
    let mut arms = String::new();
    for class in &classes {
        writeln!(variants, "/// {}.\n{},", class_doc(class)?, names::camel(class))?;
    }
    for (op, legal) in &spec.datatypes.op_classes {
        let list: Vec<_> = legal
            .iter()
            .filter(|class| classes.contains(&class.as_str()))
            .map(|class| format!("Self::{}", names::camel(class)))
            .collect();
        let test =
            if list.is_empty() { "false".into() } else { format!("matches!(self, {})", list.join(" | ")) };
        writeln!(arms, "ReduceOp::{} => {test},", names::camel(op))?;
    }
    Ok((variants, arms))
}

fn class_doc(class: &str) -> Outcome<&'static str> {
    Ok(match class {
        "byte" => "Uninterpreted bytes",
        "c_integer" => "Integers of C",
        "complex" => "Complex numbers of C, C++ and Fortran",
        "floating_point" => "Floating-point numbers of C and Fortran",
        "fortran_integer" => "Integers of Fortran",
        "logical" => "Truth values of C, C++ and Fortran",
        "multi_language" => "Integers that all languages share: addresses, counts, offsets",
        "pair" => "A value and an index, for `Minloc` and `Maxloc`",
        other => return Err(format!("no description of the class {other}").into()),
    })
}
