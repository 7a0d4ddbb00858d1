//! `base::Function`: the index by which a function is known at run time.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::spec::Spec;
use super::{names, template};

/// The text of `functions.rs`. Indices begin at 1; 0 means "in no call".
pub fn text(spec: &Spec) -> String {
    let chapters: BTreeSet<&str> = spec.functions.iter().map(|function| function.chapter.as_str()).collect();
    let mut chapter_variants = String::new();
    let mut chapter_names = String::new();
    for chapter in &chapters {
        let variant = names::camel(&chapter.replace('-', "_"));
        push(&mut chapter_variants, format_args!("/// `{chapter}`.\n{variant},\n"));
        push(&mut chapter_names, format_args!("Self::{variant} => {chapter:?},\n"));
    }
    let mut variants = String::new();
    let mut rows = String::new();
    for (index, function) in spec.functions.iter().enumerate() {
        let (name, built, variant) = (&function.name, function.built, names::camel(&function.name));
        let chapter = names::camel(&function.chapter.replace('-', "_"));
        push(&mut variants, format_args!("/// `{name}`.\n{variant} = {},\n", index + 1));
        push(&mut rows, format_args!("(Function::{variant}, {name:?}, Chapter::{chapter}, {built}),\n"));
    }
    template::filled(
        include_str!("templates/functions.rs"),
        &[
            ("CHAPTER_NAMES", &chapter_names),
            ("CHAPTER_VARIANTS", &chapter_variants),
            ("COUNT", &spec.functions.len().to_string()),
            ("ROWS", &rows),
            ("VARIANTS", &variants),
        ],
    )
}

fn push(to: &mut String, line: std::fmt::Arguments<'_>) {
    to.write_fmt(line).expect("writing to a string does not fail");
}
