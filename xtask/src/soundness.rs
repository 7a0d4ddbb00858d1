//! `docs/soundness.md` names what shows of each way to misuse memory that it is closed: whether that exists.
//!
//! A row of its tables ends with what shows it, in backticks: a file of tests of `crates/oxmpi/tests` as `FOLDER/FILE`,
//! and behind a colon its functions; another file by its path; or *example of* an item, which has one that does not
//! compile if the row names the compiler's code.

use std::fs;

use crate::Outcome;
use crate::cargo::workspace_root;

const PAGE: &str = "docs/soundness.md";
const TESTS: &str = "crates/oxmpi/tests";
const SOURCES: &str = "crates/oxmpi/src";

/// Checks every row of the page.
pub fn run() -> Outcome {
    let root = workspace_root();
    let page = fs::read_to_string(root.join(PAGE))?;
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let sources = sources()?;
    let rows =
        (1..).zip(page.lines()).filter(|(_, line)| line.starts_with("| ") && !line.ends_with("shown by |"));
    let wrong =
        rows.filter_map(|(number, row)| Some(format!("{PAGE}:{number}: {}", check(row, &read, &sources)?)));
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n  ").into()) }
}

/// All that is written in the crate.
fn sources() -> Outcome<String> {
    let mut all = String::new();
    let mut folders = vec![workspace_root().join(SOURCES)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.push_str(&fs::read_to_string(path)?);
            }
        }
    }
    Ok(all)
}

/// What is wrong with a row, if anything is.
fn check(row: &str, read: &dyn Fn(&str) -> Option<String>, sources: &str) -> Option<String> {
    let shown = row.trim_end_matches([' ', '|']).rsplit('|').next()?;
    let mut names = shown.split('`').skip(1).step_by(2).peekable();
    if names.peek().is_none() && !shown.contains("borrow checker") && !shown.contains("same test") {
        return Some("nothing shows it".to_owned());
    }
    let mut file = None;
    for name in names {
        if name.contains('/') {
            let path = if name.contains('.') { name.to_owned() } else { format!("{TESTS}/{name}.rs") };
            file = read(&path);
            if file.is_none() {
                return Some(format!("there is no file {path}"));
            }
        } else if name.contains('_') && !name.contains("::") {
            let definition = format!("fn {name}(");
            if !file.as_ref().is_some_and(|text| text.contains(&definition)) {
                return Some(format!("there is no test {name}"));
            }
        }
    }
    let mut codes = shown.split([' ', ',', ';']).filter(|word| word.len() == 5 && word.starts_with("E0"));
    codes
        .find(|code| !sources.contains(&format!("compile_fail,{code}")))
        .map(|code| format!("no example has {code}"))
}

#[cfg(test)]
mod tests {
    fn check(shown: &str) -> Option<String> {
        let read = |path: &str| {
            let text = "#[test]\nfn a_request_is_dropped() {}\n";
            (path == "crates/oxmpi/tests/ranks/ownership.rs" || path == "tests/there.c")
                .then(|| text.to_owned())
        };
        super::check(&format!("| it could | it cannot | {shown} |"), &read, "/// ```compile_fail,E0499\n")
    }

    #[test]
    fn what_is_there_is_found() {
        for shown in [
            "`ranks/ownership`: `a_request_is_dropped`; `ranks/ownership`",
            "example of `View::new`, E0499",
            "`tests/there.c`",
            "the borrow checker",
        ] {
            assert_eq!(check(shown), None, "{shown}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        for (shown, why) in [
            ("see there", "nothing shows it"),
            ("`ranks/gone`", "there is no file crates/oxmpi/tests/ranks/gone.rs"),
            ("`ranks/ownership`: `a_request_is_kept`", "there is no test a_request_is_kept"),
            ("example of `View`, E0505", "no example has E0505"),
        ] {
            assert_eq!(check(shown).as_deref(), Some(why));
        }
    }
}
