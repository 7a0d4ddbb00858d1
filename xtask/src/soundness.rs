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

/// A name that is defined in the crate, and the compiler's code that an example before it fails with.
type Failing = (String, String);

/// Checks every row of the page.
pub fn run() -> Outcome {
    let root = workspace_root();
    let page = fs::read_to_string(root.join(PAGE))?;
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    let examples = examples(&sources()?);
    let rows =
        (1..).zip(page.lines()).filter(|(_, line)| line.starts_with("| ") && !line.ends_with("shown by |"));
    let wrong =
        rows.filter_map(|(number, row)| Some(format!("{PAGE}:{number}: {}", check(row, &read, &examples)?)));
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

/// The examples that must not compile. Documentation is that of the next definition; attributes may lie between.
fn examples(sources: &str) -> Vec<Failing> {
    let mut examples = Vec::new();
    let mut codes = Vec::new();
    for line in sources.lines().map(str::trim) {
        if let Some(code) = line.strip_prefix("/// ```compile_fail,") {
            codes.push(code);
        } else if let Some(name) = defined(line) {
            examples.extend(codes.drain(..).map(|code| (name.to_owned(), code.to_owned())));
        }
    }
    examples
}

/// What a line of code defines, if it does.
fn defined(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| ["pub", "pub(crate)", "unsafe"].contains(word));
    words.next().filter(|word| ["enum", "fn", "struct", "trait", "type"].contains(word))?;
    words.next()?.split(|c: char| c != '_' && !c.is_alphanumeric()).next()
}

/// What is wrong with a row, if anything is.
fn check(row: &str, read: &dyn Fn(&str) -> Option<String>, examples: &[Failing]) -> Option<String> {
    let shown = row.trim_end_matches([' ', '|']).rsplit('|').next()?;
    if !shown.contains('`') {
        return Some("nothing shows it".to_owned());
    }
    let mut file = None;
    for name in shown.split('`').skip(1).step_by(2) {
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
    shown.split(';').find_map(|part| without_example(part, examples))
}

/// Which of the items that are named before a code has no example that fails with it.
fn without_example(part: &str, examples: &[Failing]) -> Option<String> {
    let mut items = Vec::new();
    for (at, text) in part.split('`').enumerate() {
        if at % 2 == 1 {
            items.push(text.rsplit("::").next()?);
            continue;
        }
        for code in text.split([' ', ',']).filter(|word| word.len() == 5 && word.starts_with("E0")) {
            let has_it = |item: &str| examples.iter().any(|(name, fails)| name == item && fails == code);
            if let Some(item) = items.iter().find(|item| !has_it(item)) {
                return Some(format!("no example of {item} has {code}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    const SOURCES: &str = "
/// ```compile_fail,E0499
/// let one: Wrong;
/// ```
/// # fn main() {}
#[diagnostic::on_unimplemented(
    message = \"a view\",
)]
pub struct View<T>(T);

/// ```compile_fail,E0502
/// ```
    pub fn view(&self) {}
";

    fn check(shown: &str) -> Option<String> {
        let read = |path: &str| {
            let text = "#[test]\nfn a_request_is_dropped() {}\n";
            (path == "crates/oxmpi/tests/ranks/ownership.rs" || path == "tests/there.c")
                .then(|| text.to_owned())
        };
        super::check(&format!("| it could | it cannot | {shown} |"), &read, &super::examples(SOURCES))
    }

    #[test]
    fn what_is_there_is_found() {
        for shown in [
            "`ranks/ownership`: `a_request_is_dropped`; `ranks/ownership`",
            "example of `View`, E0499",
            "examples of `View`, E0499, and `View::other`; of `View::view`, E0502",
            "`tests/there.c`",
        ] {
            assert_eq!(check(shown), None, "{shown}");
        }
    }

    #[test]
    fn what_is_missing_is_told() {
        for (shown, why) in [
            ("see there", "nothing shows it"),
            ("the borrow checker", "nothing shows it"),
            ("`ranks/gone`", "there is no file crates/oxmpi/tests/ranks/gone.rs"),
            ("`ranks/ownership`: `a_request_is_kept`", "there is no test a_request_is_kept"),
            ("example of `View`, E0505", "no example of View has E0505"),
            ("examples of `View` and `view`, E0499", "no example of view has E0499"),
        ] {
            assert_eq!(check(shown).as_deref(), Some(why));
        }
    }
}
