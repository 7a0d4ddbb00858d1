//! `base::ReduceOp`.

use std::fmt::Write as _;

use super::names;
use super::spec::Spec;
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
    let count = ops.len();
    Ok(format!(
        "//! The predefined operations, with their handles in the standard ABI.
        //!
        //! MPI-5.0: Collective Communication, Predefined Reduction Operations. All of them commute.

        /// A predefined operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ReduceOp {{\n{variants}}}

        impl ReduceOp {{
            /// Every predefined operation.
            pub const ALL: [Self; {count}] = [\n{all}];

            /// The operation whose handle is `handle`.
            pub const fn from_abi(handle: u32) -> Option<Self> {{
                Some(match handle {{\n{from_abi}_ => return None,\n}})
            }}

            /// The handle in the standard ABI.
            pub const fn abi(self) -> u32 {{
                self as u32
            }}

            /// The name of the constant in C.
            pub const fn name(self) -> &'static str {{
                match self {{\n{names_}}}
            }}
        }}
        "
    ))
}
