//! `include/mpi.h`.
//!
//! Types, then constants, then prototypes by chapter. It compiles as C90 and later, and as C++.

use std::fmt::Write as _;

use super::spec::{Constant, Enumeration, Function, Parameter, Spec};
use super::template;
use crate::Outcome;

/// Lines end by this column.
const COLUMNS: usize = 110;

/// The text of the header.
pub fn text(spec: &Spec) -> Outcome<String> {
    let mut out = String::new();
    types(spec, &mut out)?;
    constants(spec, &mut out)?;
    prototypes(spec, &mut out)?;
    Ok(template::filled(include_str!("templates/mpi.h"), &[("DECLARATIONS", &out)]))
}

fn types(spec: &Spec, out: &mut String) -> Outcome {
    let abi = &spec.abi;
    title(out, "Types");
    for (name, integer) in &abi.integer_types {
        let c_type = integer.c.split(' ').next().expect("split yields at least one piece");
        writeln!(out, "typedef {c_type} {name};")?;
    }
    out.push('\n');
    for (name, handle) in &abi.handle_types {
        writeln!(out, "typedef {}{name};", handle.c)?;
    }
    for name in &abi.tools_handle_types {
        writeln!(out, "typedef struct {} *{name};", name.replacen("MPI_T_", "MPI_ABI_T_", 1))?;
    }
    out.push_str("\ntypedef struct MPI_Status {\n");
    for field in &abi.status.fields {
        match field.c_type.split_once('[') {
            Some((base, length)) => writeln!(out, "    {base} {}[{length};", field.name)?,
            None => writeln!(out, "    {} {};", field.c_type, field.name)?,
        }
    }
    out.push_str("} MPI_Status;\n");
    for (name, c_type) in &abi.tools_enum_types {
        let members = abi
            .constants
            .iter()
            .filter(|constant| matches!(&constant.enumeration, Enumeration::Named(owner) if owner == name));
        enumeration(out, &format!("typedef {c_type}"), members, name)?;
    }
    out.push('\n');
    for (name, callback) in &abi.callbacks {
        let head = format!("typedef {}{name}", spaced(&callback.ret));
        declaration(out, &head, &callback.params, false);
    }
    for (name, target) in &abi.callback_aliases {
        writeln!(out, "typedef {target} {name};")?;
    }
    Ok(())
}

fn constants(spec: &Spec, out: &mut String) -> Outcome {
    title(out, "Constants");
    for group in groups(&spec.abi.constants) {
        let (macros, others): (Vec<_>, Vec<_>) = group.iter().partition(|constant| {
            matches!(constant.enumeration, Enumeration::Macro | Enumeration::Anonymous(false))
        });
        if matches!(group[0].enumeration, Enumeration::Named(_)) {
            continue; // declared with its type
        }
        writeln!(out, "\n/* {} */", group[0].group)?;
        for constant in macros {
            writeln!(out, "#define {} {}", constant.name, macro_value(constant))?;
        }
        if !others.is_empty() {
            enumeration(out, "", others.into_iter(), "")?;
        }
    }
    Ok(())
}

/// Neighbouring constants of one group.
fn groups(constants: &[Constant]) -> impl Iterator<Item = &[Constant]> {
    constants.chunk_by(|left, right| left.group == right.group)
}

fn macro_value(constant: &Constant) -> String {
    let Constant { c_type, value, .. } = constant;
    let is_handle = constant.group.starts_with("handle");
    match c_type.as_str() {
        "int" => value.to_string(),
        _ if is_handle && *value > 9 => format!("(({c_type})0x{value:03x})"),
        _ if *value < 0 => format!("(({c_type})({value}))"),
        _ => format!("(({c_type}){value})"),
    }
}

fn enumeration<'a>(
    out: &mut String,
    before: &str,
    members: impl Iterator<Item = &'a Constant>,
    after: &str,
) -> Outcome {
    let lines: Vec<_> = members.map(|member| format!("    {} = {}", member.name, member.value)).collect();
    let before = if before.is_empty() { "enum" } else { before };
    let after = if after.is_empty() { String::new() } else { format!(" {after}") };
    writeln!(out, "{before} {{\n{}\n}}{after};", lines.join(",\n"))?;
    Ok(())
}

fn prototypes(spec: &Spec, out: &mut String) -> Outcome {
    let functions = spec.functions.iter().filter(|function| function.abi == "standard");
    let mut chapters: Vec<(&str, Vec<&Function>)> = Vec::new();
    for function in functions {
        match chapters.iter_mut().find(|(chapter, _)| *chapter == function.chapter) {
            Some((_, list)) => list.push(function),
            None => chapters.push((&function.chapter, vec![function])),
        }
    }
    for (prefix, what) in [("", "Functions"), ("P", "The same for tools that intercept the above")] {
        title(out, what);
        for (chapter, functions) in &chapters {
            writeln!(out, "\n/* {chapter} */")?;
            for function in functions {
                let head = format!("{}{prefix}{}", spaced(&function.ret), function.name);
                declaration(out, &head, &function.params, function.variadic);
            }
        }
    }
    Ok(())
}

/// `head(parameters);`, broken after commas where it would be too long.
fn declaration(out: &mut String, head: &str, parameters: &[Parameter], variadic: bool) {
    let mut items: Vec<String> = parameters.iter().map(parameter).collect();
    if variadic {
        items.push("...".to_owned());
    }
    if items.is_empty() {
        items.push("void".to_owned());
    }
    let mut line = format!("{head}(");
    for (index, item) in items.iter().enumerate() {
        let last = index + 1 == items.len();
        let piece = if last { format!("{item});") } else { format!("{item},") };
        if index > 0 && line.len() + 1 + piece.len() > COLUMNS {
            out.push_str(&line);
            line = "\n   ".to_owned();
        }
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&piece);
    }
    out.push_str(&line);
    out.push('\n');
}

/// `const int counts[]` for an array, `void *buf` for a pointer, `int ranges[][3]` for rows.
///
/// Weights are declared as pointers too: compilers warn of `MPI_UNWEIGHTED` where an array is expected.
pub fn parameter(parameter: &Parameter) -> String {
    let Parameter { name, c_type, array, kind, .. } = parameter;
    if c_type == "..." {
        return c_type.clone();
    }
    if let Some((row, length)) = c_type.split_once("(*)") {
        return format!("{row}{name}[]{length}");
    }
    match c_type.strip_suffix('*') {
        Some(element) if *array && kind != "WEIGHT" => format!("{}{name}[]", spaced(element.trim_end())),
        _ => format!("{}{name}", spaced(c_type)),
    }
}

/// The type, with a space behind it unless it ends in a star.
pub fn spaced(c_type: &str) -> String {
    if c_type.ends_with('*') { c_type.to_owned() } else { format!("{c_type} ") }
}

fn title(out: &mut String, text: &str) {
    out.push_str(&format!("\n/* ---- {text} ---- */\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(name: &str, c_type: &str, array: bool) -> String {
        declared_as("OTHER", name, c_type, array)
    }

    fn declared_as(kind: &str, name: &str, c_type: &str, array: bool) -> String {
        let (name, c_type, kind) = (name.to_owned(), c_type.to_owned(), kind.to_owned());
        parameter(&Parameter { name, c_type, dir: String::new(), array, length: None, kind })
    }

    #[test]
    fn arrays_are_declared_with_brackets() {
        assert_eq!(declared("counts", "const int *", true), "const int counts[]");
        assert_eq!(declared("argv", "char **", true), "char *argv[]");
        assert_eq!(declared("ranges", "int (*)[3]", true), "int ranges[][3]");
        assert_eq!(declared("buf", "const void *", false), "const void *buf");
        assert_eq!(declared_as("WEIGHT", "weights", "const int *", true), "const int *weights");
    }

    #[test]
    fn a_long_prototype_is_broken_after_a_comma() {
        let parameters: Vec<_> = (0..9)
            .map(|index| Parameter {
                name: format!("argument_{index}"),
                c_type: "MPI_Datatype".to_owned(),
                dir: "IN".to_owned(),
                array: false,
                length: None,
                kind: "DATATYPE".to_owned(),
            })
            .collect();
        let mut out = String::new();
        declaration(&mut out, "int f", &parameters, false);
        assert!(out.lines().all(|line| line.len() <= COLUMNS && line.ends_with([',', ';'])), "{out}");
    }
}
