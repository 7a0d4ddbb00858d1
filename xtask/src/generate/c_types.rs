//! C's types and constants in Rust, for `cfront` and the exports.
//!
//! A type keeps its C name, so that a signature reads as in the standard.

use std::fmt::Write as _;

use super::spec::{Callback, Constant, Spec};
use crate::Outcome;

/// The Rust spelling of a C type, as a parameter or a result.
///
/// `MPI_User_function *` becomes the name of the function type, which in Rust is a nullable pointer already.
pub fn in_rust(spec: &Spec, c_type: &str) -> Outcome<String> {
    let unqualified = c_type.strip_prefix("const ").unwrap_or(c_type);
    if unqualified == "int (*)[3]" {
        return Ok("*mut [c_int; 3]".to_owned());
    }
    let (base, stars) = match unqualified.find('*') {
        Some(at) => (unqualified[..at].trim_end(), unqualified[at..].trim()),
        None => (unqualified, ""),
    };
    if is_callback(spec, base) {
        return match stars {
            "*" => Ok(base.to_owned()),
            _ => Err(format!("cannot translate the type {c_type}").into()),
        };
    }
    let pointee = match base {
        "void" if stars.is_empty() => "()",
        "void" => "c_void",
        "int" => "c_int",
        "char" => "c_char",
        "double" => "c_double",
        name if name.starts_with("MPI_") => name,
        _ => return Err(format!("cannot translate the type {c_type}").into()),
    };
    let mut out = String::new();
    for star in 0..stars.len() {
        out.push_str(if star + 1 == stars.len() && c_type.starts_with("const ") {
            "*const "
        } else {
            "*mut "
        });
    }
    out.push_str(pointee);
    Ok(out)
}

fn is_callback(spec: &Spec, name: &str) -> bool {
    spec.abi.callbacks.contains_key(name) || spec.abi.callback_aliases.contains_key(name)
}

/// The text of `types.rs`.
pub fn types(spec: &Spec) -> Outcome<String> {
    let abi = &spec.abi;
    let mut out = TYPES_PREAMBLE.to_owned();
    for (name, integer) in &abi.integer_types {
        let rust =
            if integer.c.starts_with("intptr_t") { "isize".into() } else { format!("i{}", integer.bits) };
        writeln!(out, "pub type {name} = {rust};")?;
    }
    for name in abi.tools_enum_types.keys() {
        writeln!(out, "pub type {name} = c_int;")?;
    }
    for name in abi.handle_types.keys().chain(&abi.tools_handle_types) {
        write!(out, "\n{HANDLE_ATTRIBUTES}\npub struct {name}(pub Word);\n")?;
    }
    out.push('\n');
    for (name, callback) in &abi.callbacks {
        writeln!(out, "pub type {name} = {};", function_type(spec, callback)?)?;
    }
    for (name, target) in &abi.callback_aliases {
        writeln!(out, "pub type {name} = {target};")?;
    }
    Ok(out)
}

/// The text of `status.rs`.
pub fn status(spec: &Spec) -> Outcome<String> {
    let abi = &spec.abi;
    let mut out = STATUS_PREAMBLE.to_owned();
    out.push_str("#[derive(Clone, Copy, Debug)]\n#[repr(C)]\npub struct MPI_Status {\n");
    for field in &abi.status.fields {
        let rust = match field.c_type.strip_prefix("int").map(|rest| rest.trim_matches(['[', ']'])) {
            Some("") => "c_int".to_owned(),
            Some(count) => format!("[c_int; {count}]"),
            None => {
                return Err(format!("MPI_Status.{}: cannot translate {}", field.name, field.c_type).into());
            }
        };
        writeln!(out, "pub {}: {rust},", field.name)?;
    }
    write!(out, "}}\n\nconst _: () = assert!(size_of::<MPI_Status>() == {});\n", abi.status.size)?;
    Ok(out)
}

fn function_type(spec: &Spec, callback: &Callback) -> Outcome<String> {
    let mut parameters = Vec::new();
    for parameter in &callback.params {
        parameters.push(match parameter.c_type.as_str() {
            "..." => "...".to_owned(),
            c_type => in_rust(spec, c_type)?,
        });
    }
    let result = match callback.ret.as_str() {
        "void" => String::new(),
        c_type => format!(" -> {}", in_rust(spec, c_type)?),
    };
    Ok(format!("Option<unsafe extern \"C\" fn({}){result}>", parameters.join(", ")))
}

/// The text of `constants.rs`.
pub fn constants(spec: &Spec) -> Outcome<String> {
    let mut out = CONSTANTS_PREAMBLE.to_owned();
    let mut group = "";
    for constant in &spec.abi.constants {
        if constant.group != group {
            group = &constant.group;
            writeln!(out, "\n// {group}")?;
        }
        let (rust, value) = constant_in_rust(spec, constant)?;
        writeln!(out, "pub const {}: {rust} = {value};", constant.name)?;
    }
    Ok(out)
}

fn constant_in_rust(spec: &Spec, constant: &Constant) -> Outcome<(String, String)> {
    let (c_type, value) = (constant.c_type.as_str(), constant.value);
    if is_callback(spec, c_type.trim_end_matches([' ', '*'])) {
        return Ok(("usize".to_owned(), value.to_string()));
    }
    let rust = in_rust(spec, c_type)?;
    let value = if spec.abi.handle_types.contains_key(c_type)
        || spec.abi.tools_handle_types.iter().any(|name| name == c_type)
    {
        format!("{rust}({value:#x})")
    } else if rust.starts_with('*') {
        format!("ptr::without_provenance_mut({value})")
    } else {
        value.to_string()
    };
    Ok((rust, value))
}

const HANDLE_ATTRIBUTES: &str = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[repr(transparent)]";

const TYPES_PREAMBLE: &str = "\
//! The types of `mpi.h`, under their C names.
//!
//! A handle is a number: below 0x1000 a constant of the standard ABI, above whatever `cfront` chooses.

use std::ffi::{c_int, c_void};

use crate::layout::Word;
pub use crate::layout::MPI_Status;

const _: () = assert!(size_of::<usize>() == 8, \"the standard ABI is supported on 64-bit targets\");

";

const STATUS_PREAMBLE: &str = "\
//! The status of the standard ABI.

use std::ffi::c_int;

";

const CONSTANTS_PREAMBLE: &str = "\
//! The constants of `mpi.h`, under their C names and with the values of the standard ABI.
//!
//! Predefined callbacks are addresses that no function has: compare them, never call them.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use super::types::*;
";

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(c_type: &str) -> String {
        let spec = Spec::load(&crate::cargo::workspace_root().join("spec")).expect("spec/ is readable");
        in_rust(&spec, c_type).expect("a type of mpi.h")
    }

    #[test]
    fn constness_belongs_to_the_innermost_pointee() {
        assert_eq!(translated("const void *"), "*const c_void");
        assert_eq!(translated("char ***"), "*mut *mut *mut c_char");
        assert_eq!(translated("const MPI_Datatype *"), "*const MPI_Datatype");
    }

    #[test]
    fn a_pointer_to_a_function_is_the_nullable_function_type() {
        assert_eq!(translated("MPI_User_function *"), "MPI_User_function");
    }
}
