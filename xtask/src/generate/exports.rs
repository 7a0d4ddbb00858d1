//! The exports of `libmpi_abi.so.1`: one file for each chapter.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::spec::{Function, Spec};
use super::{Output, arguments, bodies, c_types, names};
use crate::Outcome;

/// Code lines end by this column.
const COLUMNS: usize = 110;

/// All files of `crates/abi/src/generated`.
pub fn files(spec: &Spec) -> Outcome<Vec<Output>> {
    let mut chapters: BTreeMap<String, Vec<&Function>> = BTreeMap::new();
    for function in &spec.functions {
        chapters.entry(function.chapter.replace('-', "_")).or_default().push(function);
    }
    let folder = "crates/abi/src/generated";
    let mut index = "//! Every exported function, by chapter.\n\n".to_owned();
    let mut files = Vec::new();
    for (chapter, functions) in &chapters {
        writeln!(index, "mod {chapter};")?;
        files.push(Output::rust(format!("{folder}/{chapter}.rs"), &chapter_text(spec, chapter, functions)?)?);
    }
    files.push(Output::rust(format!("{folder}/mod.rs"), &index)?);
    Ok(files)
}

fn chapter_text(spec: &Spec, chapter: &str, functions: &[&Function]) -> Outcome<String> {
    let mut out =
        format!("//! Exports of the chapter `{chapter}`.\n\nuse crate::prelude::*;\n\nexports! {{\n");
    for function in functions {
        out.push_str(&export(spec, function)?);
    }
    out.push_str("}\n");
    Ok(out)
}

/// One item of the macro `exports!`. The `...` of a variadic function is left out: stable Rust cannot define
/// it, and by the calling conventions of our targets a function that reads none of it need not know.
fn export(spec: &Spec, function: &Function) -> Outcome<String> {
    let name = &function.name;
    let mut parameters = Vec::new();
    for parameter in &function.params {
        parameters.push(format!("{}: {}", parameter.name, c_types::in_rust(spec, &parameter.c_type)?));
    }
    let result = c_types::in_rust(spec, &function.ret)?;
    let signature = call(1, &format!("fn {name}, P{name}"), &parameters, &format!(" -> {result} {{"));
    let body = if function.built { built(spec, function)? } else { unbuilt(function) };
    Ok(format!("{signature}\n{body}\n    }}\n"))
}

/// The call of the body.
fn built(spec: &Spec, function: &Function) -> Outcome<String> {
    let owner = bodies::of(spec, function).owner;
    let mut items = vec![format!("Function::{}", names::camel(&function.name))];
    items.extend(arguments::of(spec, function)?);
    Ok(call(2, &format!("{}::{}", module(owner), names::snake(&owner.name)), &items, ""))
}

/// The module of `cfront` that holds the body: the chapter, without the lifetimes of collectives.
fn module(function: &Function) -> String {
    let chapter = function.chapter.replace('-', "_");
    for family in ["collective", "neighborhood"] {
        if chapter.starts_with(family) {
            return family.to_owned();
        }
    }
    chapter
}

/// What a function without a body does: report so through the error handler the standard names.
fn unbuilt(function: &Function) -> String {
    let variant = format!("Function::{}", names::camel(&function.name));
    if function.returns == "value" {
        return call(2, "unsupported_value", &[variant], "");
    }
    let handler = match function.error_via.as_str() {
        "comm" => via(function, "Comm"),
        "win" => via(function, "Win"),
        "file" => via(function, "File"),
        "session" => via(function, "Session"),
        "file-default" => "MPI_FILE_NULL".to_owned(),
        "none (returns code)" => "Nobody".to_owned(),
        _ => "NoObject".to_owned(),
    };
    call(2, "unsupported", &[variant, handler], "")
}

/// The first argument that is a handle of this kind hears of the error; if none is, who hears of those of no object, or
/// of no file.
fn via(function: &Function, kind: &str) -> String {
    let c_type = format!("MPI_{kind}");
    match function.params.iter().find(|parameter| parameter.c_type == c_type) {
        Some(parameter) => parameter.name.clone(),
        None if kind == "File" => "MPI_FILE_NULL".to_owned(),
        None => "NoObject".to_owned(),
    }
}

/// `head(items)tail` at an indentation of so many levels, on one line if it fits.
fn call(level: usize, head: &str, items: &[String], tail: &str) -> String {
    let indent = "    ".repeat(level);
    let line = format!("{indent}{head}({}){tail}", items.join(", "));
    if line.len() <= COLUMNS {
        return line;
    }
    let mut out = format!("{indent}{head}(\n");
    for item in items {
        out.push_str(&format!("{indent}    {item},\n"));
    }
    out + &format!("{indent}){tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_call_has_one_argument_a_line() {
        let items = vec!["x".repeat(60), "y".repeat(60)];
        let text = call(1, "f", &items, " {");
        assert_eq!(text.lines().count(), 4);
        assert!(text.ends_with("    ) {"));
    }

    #[test]
    fn all_lifetimes_of_collectives_live_in_one_module() {
        let spec = Spec::load(&crate::cargo::workspace_root().join("spec")).expect("spec/ is readable");
        for name in ["MPI_Allreduce", "MPI_Iallreduce", "MPI_Allreduce_init"] {
            assert_eq!(module(spec.function(name).expect("in the standard")), "collective");
        }
    }
}
