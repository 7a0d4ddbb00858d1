//! `base::BasicType`, `base::TypeClass` and `base::Scalar`.

use std::fmt::Write as _;

use super::names;
use super::spec::{Datatype, Size, Spec};
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
    let mut out = PREAMBLE.to_owned();
    write!(
        out,
        "/// A predefined datatype that is a unit of data: everything but derived types.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum BasicType {{\n{variants}}}\n\n"
    )?;
    let count = types.len();
    out.push_str(&METHODS.replace("$COUNT", &count.to_string()).replace("$ALL", &all));
    write!(out, "\nstatic ROWS: [Row; {count}] = [\n{rows}];\n\n")?;
    out.push_str(&class(spec)?);
    out.push_str(SCALAR);
    Ok(out)
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

fn class(spec: &Spec) -> Outcome<String> {
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
    Ok(format!(
        "/// The groups of types by which the standard says what an operation is legal on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum TypeClass {{\n{variants}}}

        impl TypeClass {{
            /// Whether a reduction may apply `op` to types of this class. `Replace` and `NoOp` belong to
            /// one-sided accumulation and are never legal in a reduction.
            pub const fn allows(self, op: ReduceOp) -> bool {{
                match op {{\n{arms}}}
            }}
        }}\n\n"
    ))
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

const PREAMBLE: &str = "\
//! The predefined datatypes, with their handles in the standard ABI.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data; Collective Communication, Predefined Reduction
//! Operations. Sizes are those of the LP64 targets; Fortran's are those of its default kinds.

use super::reduce_op::ReduceOp;

";

const METHODS: &str = "\
impl BasicType {
    /// Every basic type.
    pub const ALL: [Self; $COUNT] = [
        $ALL
    ];

    /// The type whose handle is `handle`, also under an alias.
    pub fn from_abi(handle: u32) -> Option<Self> {
        let index = handle.checked_sub(FIRST_HANDLE)? as usize;
        BY_HANDLE.get(index).copied().flatten()
    }

    /// The handle in the standard ABI.
    pub const fn abi(self) -> u32 {
        self.row().abi as u32
    }

    /// The name of the constant in C.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes of data in one element; gaps do not count.
    pub const fn size(self) -> usize {
        self.row().size as usize
    }

    /// Bytes from one element to the next in an array.
    pub const fn extent(self) -> usize {
        self.row().extent as usize
    }

    /// Alignment of one element in bytes.
    pub const fn align(self) -> usize {
        self.row().align as usize
    }

    /// Whether the data of one element fills its extent.
    pub const fn is_dense(self) -> bool {
        self.row().size == self.row().extent
    }

    /// Bytes from the value of a pair to its index; 0 for what is not a pair.
    pub const fn index_offset(self) -> usize {
        self.row().index_offset as usize
    }

    /// The class that decides which operations are legal; `None` if no reduction is.
    pub const fn class(self) -> Option<TypeClass> {
        self.row().class
    }

    /// What one element is to the processor.
    pub const fn scalar(self) -> Scalar {
        self.row().scalar
    }

    /// Whether a reduction may apply `op` to this type.
    pub const fn allows(self, op: ReduceOp) -> bool {
        match self.class() {
            Some(class) => class.allows(op),
            None => false,
        }
    }

    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

/// The first handle of the block that the standard ABI reserves for datatypes.
const FIRST_HANDLE: u32 = 0x200;

static BY_HANDLE: [Option<BasicType>; 256] = {
    let mut table = [None; 256];
    let mut index = 0;
    while index < BasicType::ALL.len() {
        let basic = BasicType::ALL[index];
        table[(basic.abi() - FIRST_HANDLE) as usize] = Some(basic);
        index += 1;
    }
    table
};

struct Row {
    name: &'static str,
    abi: u16,
    size: u8,
    extent: u8,
    align: u8,
    index_offset: u8,
    class: Option<TypeClass>,
    scalar: Scalar,
}

const fn row(name: &'static str, abi: u16, bytes: [u8; 4], class: Option<TypeClass>, scalar: Scalar) -> Row {
    let [size, extent, align, index_offset] = bytes;
    Row { name, abi, size, extent, align, index_offset, class, scalar }
}
";

const SCALAR: &str = "\
/// What one element is to the processor, whatever the language calls it.
///
/// A type that takes part in no reduction is the unsigned integer of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = \"the variants are named after Rust's types\")]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    /// IEEE binary128.
    F128,
    /// C's `long double`: 80 bits in 16 bytes on x86-64, IEEE binary128 on aarch64.
    LongDouble,
    ComplexF16,
    ComplexF32,
    ComplexF64,
    ComplexF128,
    ComplexLongDouble,
    /// One byte, 0 or 1.
    Bool,
    /// Truth values of Fortran, by their bits.
    Logical8,
    Logical16,
    Logical32,
    Logical64,
    Logical128,
    Pair(Pair),
}

/// The parts of a pair: first the value, then the index, each aligned as in a C structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = \"the variants are named after the parts\")]
pub enum Pair {
    F32I32,
    F64I32,
    I64I32,
    I32I32,
    I16I32,
    LongDoubleI32,
    F32F32,
    F64F64,
}
";
