//! `docs/standard.md` names the test of each rule of the standard: whether these tests exist and are run.
//!
//! A row of its tables ends with who is bound by the rule and what shows it. A rule that binds the library names at
//! least one test, in backticks: a program of `tests/c`, which a test must run, or `FILE.rs::TEST`. Any other row has
//! tests or a reason.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::cargo::workspace_root;

const PAGE: &str = "docs/standard.md";
/// Cells of a row: where the rule stands, the rule, who is bound, what shows it.
const CELLS: usize = 4;
const BOUND: [&str; 3] = ["advice", "library", "user"];
/// Where the tests are that run programs.
const RUNNERS: &str = "tests/tests";

/// Checks every row of the page.
pub fn run() -> Outcome {
    let root = workspace_root();
    let page = fs::read_to_string(root.join(PAGE)).map_err(|error| format!("{PAGE}: {error}"))?;
    let runners = runners(&root.join(RUNNERS))?;
    let mut complaints = Vec::new();
    let mut rows = 0;
    for (number, line) in (1..).zip(page.lines()) {
        if let Some(row) = Row::parse(line) {
            rows += 1;
            let wrong =
                row.and_then(|row| row.check(&|path| fs::read_to_string(root.join(path)).ok(), &runners));
            complaints.extend(wrong.err().map(|why| format!("{PAGE}:{number}: {why}")));
        }
    }
    if rows == 0 {
        complaints.push(format!("{PAGE}: no row was found"));
    }
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("rules without their tests:\n  {}", complaints.join("\n  ")).into())
}

/// All that is written in the tests that run programs.
fn runners(folder: &Path) -> Outcome<String> {
    let mut all = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "rs") {
            all.push_str(&fs::read_to_string(path)?);
        }
    }
    Ok(all)
}

/// One rule.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    bound: &'a str,
    shown: &'a str,
}

impl<'a> Row<'a> {
    /// The row that a line is, if it is one of a table and not its head.
    fn parse(line: &'a str) -> Option<Result<Self, String>> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let is_head = cells.iter().all(|cell| cell.starts_with("---")) || cells.first() == Some(&"where");
        if is_head {
            return None;
        }
        Some(match cells[..] {
            [_, _, bound, shown] => Ok(Row { bound, shown }),
            _ => Err(format!("{} cells instead of {CELLS}", cells.len())),
        })
    }

    /// The tests that are named: what stands in backticks and is no name of MPI.
    fn tests(&self) -> impl Iterator<Item = &'a str> {
        self.shown.split('`').skip(1).step_by(2).filter(|name| !name.starts_with("MPI_"))
    }

    /// Whether the row says who is bound, and its tests exist in the files that `read` gives.
    fn check(&self, read: &dyn Fn(&str) -> Option<String>, runners: &str) -> Result<(), String> {
        let Row { bound, shown } = self;
        if !BOUND.contains(bound) {
            return Err(format!("`{bound}` is bound, instead of one of {}", BOUND.join(", ")));
        }
        if shown.matches('`').count() % 2 == 1 {
            return Err("a backtick is not closed".to_owned());
        }
        if shown.is_empty() {
            return Err("neither a test nor a reason".to_owned());
        }
        if *bound == "library" && self.tests().next().is_none() {
            return Err("a rule that binds the library names no test".to_owned());
        }
        self.tests().try_for_each(|test| exists(test, read, runners))
    }
}

/// Whether a test is there and is run.
fn exists(test: &str, read: &dyn Fn(&str) -> Option<String>, runners: &str) -> Result<(), String> {
    let missing = |file: &str| format!("there is no file {file}");
    if let Some((file, function)) = test.split_once("::") {
        let text = read(file).ok_or_else(|| missing(file))?;
        return if is_test(&text, function) { Ok(()) } else { Err(format!("{file} has no test {function}")) };
    }
    let program = test.strip_prefix("tests/c/").and_then(|name| name.strip_suffix(".c"));
    let program =
        program.ok_or_else(|| format!("`{test}` is neither tests/c/PROGRAM.c nor FILE.rs::TEST"))?;
    read(test).ok_or_else(|| missing(test))?;
    let mut words = runners.split(|character: char| !character.is_alphanumeric() && character != '_');
    if words.any(|word| word == program) { Ok(()) } else { Err(format!("no test runs {test}")) }
}

/// Whether a function of this name is marked as a test.
fn is_test(text: &str, function: &str) -> bool {
    let definition = format!("fn {function}(");
    // Some tests are called by others, too.
    let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_start_matches("pub ")).collect();
    let defined = lines.iter().position(|line| line.starts_with(&definition));
    let marks = |line: &&&str| line.starts_with("#[") || line.starts_with("//");
    defined.is_some_and(|at| lines[..at].iter().rev().take_while(marks).any(|line| *line == "#[test]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "/// Rings.\n#[test]\n// Long.\nfn a_ring() {\n}\n\nfn helper() {\n}\n";

    fn read(path: &str) -> Option<String> {
        match path {
            "tests/c/ring.c" | "tests/c/rin.c" => Some(String::new()),
            "crates/core/tests/rings.rs" => Some(RUST.to_owned()),
            _ => None,
        }
    }

    fn check(line: &str) -> Result<(), String> {
        Row::parse(line).expect("it is a row")?.check(&read, "programs! {\n    ring on 2;\n}\n")
    }

    #[test]
    fn prose_and_heads_are_no_rows() {
        for line in ["A rule | of prose.", "| where | rule | binds | shown by |", "|---|---|---|---|"] {
            assert_eq!(Row::parse(line), None, "{line}");
        }
    }

    #[test]
    fn tests_that_exist_and_are_run_are_accepted() {
        let tests = "`tests/c/ring.c`, `crates/core/tests/rings.rs::a_ring`";
        assert_eq!(check(&format!("| 1.1 | Rings close. | library | {tests} |")), Ok(()));
        assert_eq!(check("| 1.2 | Nobody breaks them. | user | `MPI_ERR_OTHER` else |"), Ok(()));
    }

    #[test]
    fn a_test_that_is_missing_or_not_run_is_named() {
        let wrong = [
            ("`tests/c/gone.c`", "there is no file tests/c/gone.c"),
            ("`tests/c/rin.c`", "no test runs tests/c/rin.c"),
            ("`crates/core/tests/gone.rs::a_ring`", "there is no file crates/core/tests/gone.rs"),
            ("`crates/core/tests/rings.rs::a_rin`", "crates/core/tests/rings.rs has no test a_rin"),
            ("`crates/core/tests/rings.rs::helper`", "crates/core/tests/rings.rs has no test helper"),
            ("`ring`", "`ring` is neither tests/c/PROGRAM.c nor FILE.rs::TEST"),
        ];
        for (test, complaint) in wrong {
            let found = check(&format!("| 1.1 | Rings close. | user | `tests/c/ring.c`, {test} |"));
            assert_eq!(found, Err(complaint.to_owned()));
        }
    }

    #[test]
    fn a_row_says_who_is_bound_and_why_there_is_no_test() {
        let wrong = [
            "| 1.1 | Rings close. | library | of course |",
            "| 1.1 | Rings close. | library | `MPI_Barrier` |",
            "| 1.1 | Rings close. | nobody | `tests/c/ring.c` |",
            "| 1.1 | Rings close. | user | |",
            "| 1.1 | Rings close. | user | `tests/c/ring.c |",
            "| 1.1 | Rings close. | `tests/c/ring.c` |",
        ];
        for line in wrong {
            assert!(check(line).is_err(), "{line}");
        }
    }
}
