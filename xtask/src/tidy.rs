//! `cargo xtask tidy`: the rules of style that neither the compiler nor clippy knows.

mod circles;
mod collectives;

use std::path::Path;
use std::process::Command;
use std::{fs, str};

use crate::Outcome;
use crate::cargo::workspace_root;
use crate::generate::MARK;
use circles::Needs;
use collectives::Source;

/// Lines that a file may have without its tests.
const FILE_LINES: usize = 700;
/// Lines that a function may have, its signature included.
const FUNCTION_LINES: usize = 70;
/// Characters that a line of code may have, and a line of prose.
const COLUMNS: (usize, usize) = (110, 120);
/// Names that say nothing about what a file holds.
const VAGUE_NAMES: [&str; 6] = ["common.rs", "helper.rs", "helpers.rs", "misc.rs", "util.rs", "utils.rs"];
/// Crates that contain no unsafe code.
const SAFE_CRATES: [&str; 7] = ["base", "broker", "core", "engine", "fabric", "manual", "plan"];
/// Words that must not be committed. Spelled in halves, so that this file may be.
const LEFTOVERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("db", "g!(")];

/// Checks every Rust file that git knows or would add, how many of them a collective needs, and which need each other.
pub fn run() -> Outcome {
    let root = workspace_root();
    let read = |file: &str| fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"));
    let files = files(root, "*.rs")?;
    let names = collectives::collectives(files.iter().map(String::as_str));
    let mut complaints = Vec::new();
    let mut sources = Vec::new();
    let mut crates = Needs::of_crates();
    for file in files {
        let text = read(&file)?;
        sources.extend(Source::new(&file, &text, &names));
        crates.iter_mut().for_each(|needs| needs.add(&file, &text));
        complaints.extend(check(&file, &text).iter().map(|complaint| format!("{file}{complaint}")));
    }
    for file in self::files(root, "spec/built.txt")? {
        sources.extend(Source::new(&file, &read(&file)?, &names));
    }
    complaints.extend(collectives::check(&names, &sources));
    complaints.extend(crates.iter().flat_map(Needs::check));
    if complaints.is_empty() {
        return Ok(());
    }
    Err(format!("not tidy:\n  {}", complaints.join("\n  ")).into())
}

/// What git knows or would add of a kind.
pub fn files(root: &Path, kind: &str) -> Outcome<Vec<String>> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", kind])
        .current_dir(root)
        .output()?;
    let present = |file: &&str| root.join(file).exists();
    Ok(str::from_utf8(&output.stdout)?.lines().filter(present).map(str::to_owned).collect())
}

/// What is wrong with one file, each complaint beginning with `:` and perhaps a line number.
fn check(file: &str, text: &str) -> Vec<String> {
    if file.contains("/generated/") {
        let marked = text.starts_with(MARK);
        return if marked {
            vec![]
        } else {
            vec![": lies in `generated` but is not marked as such".to_owned()]
        };
    }
    let mut complaints = Vec::new();
    let name = file.rsplit('/').next().expect("rsplit yields at least one piece");
    if VAGUE_NAMES.contains(&name) {
        complaints.push(": name the file for its main noun".to_owned());
    }
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]").count();
    if lines > FILE_LINES && name != "tests.rs" {
        complaints.push(format!(": {lines} lines without tests, at most {FILE_LINES} are readable"));
    }
    let is_safe = SAFE_CRATES.iter().any(|crate_| file == format!("crates/{crate_}/src/lib.rs"));
    if is_safe && !text.contains("#![forbid(unsafe_code)]") {
        complaints.push(": must say #![forbid(unsafe_code)]".to_owned());
    }
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let columns = line.chars().count();
        let most = match line.trim_start() {
            // A row of a table cannot be broken.
            row if row.starts_with("//! |") || row.starts_with("/// |") => usize::MAX,
            prose if prose.starts_with("//") => COLUMNS.1,
            _ => COLUMNS.0,
        };
        if columns > most {
            complaints.push(format!(":{number}: {columns} columns, at most {most}"));
        }
        if let Some(word) = LEFTOVERS.iter().find(|word| line.contains(**word)) {
            complaints.push(format!(":{number}: {word} is left over"));
        }
    }
    complaints.extend(long_functions(text));
    complaints
}

/// Functions that do not fit a screen; in formatted code one ends at the brace in the column it begins.
fn long_functions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut complaints = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line.trim_start()) else { continue };
        let depth = indent(line);
        let ends = |line: &&str| indent(line) == depth && line.ends_with(['}', ';']);
        let length = lines[start..].iter().position(ends).map_or(0, |end| end + 1);
        if length > FUNCTION_LINES {
            complaints.push(format!(":{}: `{name}` has {length} lines, at most {FUNCTION_LINES}", start + 1));
        }
    }
    complaints
}

/// The name of the function whose definition begins in this line.
fn function_name(code: &str) -> Option<&str> {
    let qualifiers = ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "async", "extern", "\"C\""];
    let mut words = code.split(' ').skip_while(|word| qualifiers.contains(word));
    (words.next() == Some("fn")).then(|| words.next())?.and_then(|word| word.split(['(', '<']).next())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_file_with_plain_lines_is_tidy() {
        assert!(check("crates/plan/src/peers/ring.rs", "//! Rings.\n\nfn next() {}\n").is_empty());
    }

    #[test]
    fn a_long_file_is_refused_unless_the_length_is_its_tests() {
        let code = "let x = 1;\n".repeat(FILE_LINES);
        assert_eq!(check("a.rs", &format!("{code}last\n")).len(), 1);
        assert!(check("a.rs", &format!("{code}#[cfg(test)]\nmod tests {{\n{code}}}\n")).is_empty());
    }

    #[test]
    fn a_long_function_is_found_at_any_depth() {
        let body = "        work();\n".repeat(FUNCTION_LINES);
        let text =
            format!("impl T {{\n    pub(crate) fn long() {{\n{body}    }}\n\n    fn short() {{}}\n}}\n");
        let complaints = check("a.rs", &text);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].starts_with(":2: `long` has"));
    }

    #[test]
    fn safe_crates_must_forbid_unsafe_code() {
        assert_eq!(check("crates/plan/src/lib.rs", "//! Plans.\n").len(), 1);
        assert!(check("crates/shm/src/lib.rs", "//! Segments.\n").is_empty());
    }

    #[test]
    fn a_generated_file_must_be_marked() {
        assert_eq!(check("crates/abi/src/generated/op.rs", "//! Ops.\n").len(), 1);
        assert!(check("crates/abi/src/generated/op.rs", MARK).is_empty());
    }
}
