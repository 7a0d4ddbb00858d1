//! `base::ErrorClass`.

use super::names;
use super::spec::Spec;

/// The text of `error_class.rs`. `MPI_ERR_LASTCODE` bounds the classes and is not one.
pub fn text(spec: &Spec) -> String {
    let (mut variants, mut codes, mut names_, mut descriptions) =
        (String::new(), String::new(), String::new(), String::new());
    for class in spec.error_classes.iter().filter(|class| class.name != "MPI_ERR_LASTCODE") {
        let variant = names::error_class(&class.name);
        let (name, code, when) = (&class.name, class.abi, &class.when);
        push(&mut variants, format!("/// `{name}`: {when}.\n{variant} = {code},\n"));
        push(&mut codes, format!("{code} => Self::{variant},\n"));
        push(&mut names_, format!("Self::{variant} => {name:?},\n"));
        push(&mut descriptions, format!("Self::{variant} => {when:?},\n"));
    }
    format!(
        "//! The error classes of the standard, with the values of the standard ABI.
        //!
        //! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

        /// What kind of thing went wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i32)]
        pub enum ErrorClass {{\n{variants}}}

        impl ErrorClass {{
            /// The class whose value is `code`.
            pub const fn from_code(code: i32) -> Option<Self> {{
                Some(match code {{\n{codes}_ => return None,\n}})
            }}

            /// The value in the standard ABI.
            pub const fn code(self) -> i32 {{
                self as i32
            }}

            /// The name of the constant in C.
            pub const fn name(self) -> &'static str {{
                match self {{\n{names_}}}
            }}

            /// When this class is given, in a few words.
            pub const fn description(self) -> &'static str {{
                match self {{\n{descriptions}}}
            }}
        }}
        "
    )
}

fn push(to: &mut String, line: String) {
    to.push_str(&line);
}
