//! `base::ErrorClass`.

use super::spec::Spec;
use super::{names, template};

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
    template::filled(
        include_str!("templates/error_class.rs"),
        &[("CODES", &codes), ("DESCRIPTIONS", &descriptions), ("NAMES", &names_), ("VARIANTS", &variants)],
    )
}

fn push(to: &mut String, line: String) {
    to.push_str(&line);
}
