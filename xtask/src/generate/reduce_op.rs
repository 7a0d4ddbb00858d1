//! `base::ReduceOp`.

use std::fmt::Write as _;

use super::spec::Spec;
use super::{names, template};
use crate::Outcome;

/// The text of `reduce_op.rs`: every operation that `datatypes.json` says something about.
pub fn text(spec: &Spec) -> Outcome<String> {
    let (mut variants, mut all, mut from_abi, mut names_) =
        (String::new(), String::new(), String::new(), String::new());
    let ops: Vec<_> = spec
        .abi
        .constants
        .iter()
        .filter(|constant| constant.group == "handle:op" && constant.name != "MPI_OP_NULL")
        .collect();
    if let Some(op) = ops.iter().find(|op| !spec.datatypes.op_classes.contains_key(&op.name)) {
        return Err(format!("spec/datatypes.json does not say which types {} is legal on", op.name).into());
    }
    for op in &ops {
        let (variant, name, value) = (names::camel(&op.name), &op.name, op.value);
        writeln!(variants, "/// `{name}`.\n{variant} = {value:#x},")?;
        writeln!(all, "Self::{variant},")?;
        writeln!(from_abi, "{value:#x} => Self::{variant},")?;
        writeln!(names_, "Self::{variant} => {name:?},")?;
    }
    Ok(template::filled(
        include_str!("templates/reduce_op.rs"),
        &[
            ("ALL", &all),
            ("COUNT", &ops.len().to_string()),
            ("FROM_ABI", &from_abi),
            ("NAMES", &names_),
            ("VARIANTS", &variants),
        ],
    ))
}
