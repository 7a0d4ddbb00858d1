//! Which predefined operation is legal on which predefined datatype, as calls of C macros.
//!
//! Derived from `spec/datatypes.json`: nothing here knows what is legal, only how C spells the types.

use std::fmt::Write as _;

use serde_json::Value;

/// The text of `reductions.h`: `LEGAL(op, type, ctype)`, `LEGAL_PAIR(op, type, ctype, index_type)` and
/// `ILLEGAL(op, type)` for every pair of an operation and a datatype.
///
/// # Panics
/// If the file does not say what it is known to say.
pub fn header(datatypes: &str) -> String {
    let spec: Value = serde_json::from_str(datatypes).expect("spec/datatypes.json is JSON");
    let classes = spec["op_classes"].as_object().expect("operations by name");
    // Those of accumulate are legal on no type here.
    let is_accumulate = |name: &str| ["MPI_REPLACE", "MPI_NO_OP"].contains(&name);
    let operations: Vec<&str> = classes.keys().map(String::as_str).collect();
    let mut text = String::new();
    for datatype in spec["datatypes"].as_array().expect("a list of datatypes") {
        let name = datatype["name"].as_str().expect("a datatype has a name");
        let legal: Vec<&str> =
            datatype["ops"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        // What we take beyond the standard, as MPICH does.
        let is_beyond = |op: &str| match name {
            "MPI_CHAR" => !LOCATION.contains(&op),
            _ => datatype["class"] == "multi_language" && LOGICAL.contains(&op),
        };
        for op in &operations {
            if is_accumulate(op) || !legal.contains(op) && !is_beyond(op) {
                writeln!(text, "ILLEGAL({op}, {name});")
            } else if let Some((value, index)) = pair(name) {
                writeln!(text, "LEGAL_PAIR({op}, {name}, {value}, {index});")
            } else {
                writeln!(text, "LEGAL({op}, {name}, {});", c_type(datatype))
            }
            .expect("a string takes all text");
        }
    }
    text
}

/// The operations on pairs.
const LOCATION: [&str; 2] = ["MPI_MAXLOC", "MPI_MINLOC"];

/// The operations on truth values.
const LOGICAL: [&str; 3] = ["MPI_LAND", "MPI_LOR", "MPI_LXOR"];

/// The C types of a value and its index.
fn pair(datatype: &str) -> Option<(&'static str, &'static str)> {
    Some(match datatype {
        "MPI_2DOUBLE_PRECISION" => ("double", "double"),
        "MPI_2INT" | "MPI_2INTEGER" => ("int", "int"),
        "MPI_2REAL" => ("float", "float"),
        "MPI_DOUBLE_INT" => ("double", "int"),
        "MPI_FLOAT_INT" => ("float", "int"),
        "MPI_LONG_DOUBLE_INT" => ("long double", "int"),
        "MPI_LONG_INT" => ("long", "int"),
        "MPI_SHORT_INT" => ("short", "int"),
        _ => return None,
    })
}

/// The C type that holds what a datatype holds.
fn c_type(datatype: &Value) -> String {
    let text = |key: &str| datatype[key].as_str().unwrap_or_default();
    let bytes = datatype["size"]["x86_64"].as_u64().expect("a datatype has a size");
    match (text("class"), bytes) {
        ("complex", _) => format!("_Complex {}", real(text("type"), bytes / 2)),
        ("floating_point", _) => real(text("type"), bytes).to_owned(),
        ("logical", 1) => "_Bool".to_owned(),
        (_, 16) => "__int128".to_owned(),
        _ if text("rust").starts_with('u') => format!("uint{}_t", 8 * bytes),
        _ => format!("int{}_t", 8 * bytes),
    }
}

/// The C type of a real number: `type_` tells the two of 16 bytes apart.
fn real(type_: &str, bytes: u64) -> &'static str {
    match bytes {
        2 => "_Float16",
        4 => "float",
        8 => "double",
        _ if type_.contains("long double") => "long double",
        _ => "_Float128",
    }
}
