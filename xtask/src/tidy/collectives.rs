//! How many files somebody has to touch who adds a collective.
//!
//! Counted, for each folder in `plan/src/collective`, are the hand-written files that are named for the
//! collective, and those that list collectives: which speak of at least [`LISTED`] different ones, this among
//! them. A file that only calls a collective or two for its own needs is not touched when one is added. Not
//! counted are comments, tests, benches, examples, documents, and the collective's own folder. Of `spec/`, what
//! says which functions are built counts: the rest is the whole standard already, or read by a test alone.

use std::collections::BTreeSet;

/// The most files that a collective may need.
const MOST: usize = 7;
/// A file that speaks of as many collectives is a list of them.
const LISTED: usize = 3;
const FOLDER: &str = "crates/plan/src/collective/";

/// A file of the workspace that may have to be touched.
pub struct Source {
    path: String,
    /// The collectives that its code speaks of.
    names: BTreeSet<String>,
}

/// The collectives that the files of the workspace are about.
pub fn collectives<'a>(files: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let folder = |file: &str| Some(file.strip_prefix(FOLDER)?.strip_suffix("/mod.rs")?.to_owned());
    files.filter_map(folder).collect()
}

impl Source {
    /// What a file speaks of; `None` of those that are not counted.
    pub fn new(path: &str, text: &str, collectives: &BTreeSet<String>) -> Option<Self> {
        let is_own = path.strip_prefix(FOLDER).is_some_and(|rest| rest != "mod.rs" && rest != "info.rs");
        let parts: Vec<&str> = path.split('/').collect();
        let is_apart =
            ["tests", "tests.rs", "benches", "examples", "generated"].iter().any(|part| parts.contains(part));
        if is_own || is_apart {
            return None;
        }
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let code = code.map(|line| line.split("//").next().unwrap_or_default());
        let words: BTreeSet<String> = code
            .flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
            .map(snake)
            .collect();
        let names = words.iter().filter_map(|word| named(word, collectives)).cloned().collect();
        Some(Self { path: path.to_owned(), names })
    }

    fn is_touched_for(&self, collective: &str) -> bool {
        let stem = self.path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
        stem == Some(collective) || self.names.contains(collective) && self.names.len() >= LISTED
    }
}

/// What is wrong with the places that collectives are added in.
pub fn check(collectives: &BTreeSet<String>, sources: &[Source]) -> Vec<String> {
    let complain = |collective: &String| {
        let touched: Vec<&str> = sources
            .iter()
            .filter(|source| source.is_touched_for(collective))
            .map(|source| source.path.as_str())
            .collect();
        let (count, list) = (touched.len(), touched.join(" "));
        (count > MOST)
            .then(|| format!("{collective} is added in {count} files, at most {MOST} are bearable: {list}"))
    };
    collectives.iter().filter_map(complain).collect()
}

/// `ReduceScatter`, `MPI_Reduce_scatter` and `reduce_scatter` alike, in small letters.
fn snake(word: &str) -> String {
    let mut snake = String::new();
    let mut before = '_';
    for c in word.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        before = c;
    }
    snake
}

/// The collective that `word` speaks of: with several names in it, that which has all the others in it. Without such a
/// one the word is a name of its own.
fn named<'a>(word: &str, collectives: &'a BTreeSet<String>) -> Option<&'a String> {
    let found = || collectives.iter().filter(|name| contains(word, name));
    let longest = found().max_by_key(|name| name.len())?;
    found().all(|name| contains(longest, name)).then_some(longest)
}

/// Whether `name` is in `word`, not as part of a longer piece.
fn contains(word: &str, name: &str) -> bool {
    format!("_{word}_").contains(&format!("_{name}_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(files: &[(&str, &str)], collective: &str) -> Vec<String> {
        let own = |name: &str| format!("{FOLDER}{name}/mod.rs");
        let own = ["bcast", "gather", "reduce_scatter"].map(own);
        let all = collectives(own.iter().map(String::as_str));
        let sources = files.iter().filter_map(|(path, text)| Source::new(path, text, &all));
        sources.filter(|source| source.is_touched_for(collective)).map(|source| source.path).collect()
    }

    #[test]
    fn lists_and_files_of_its_name_are_touched_and_callers_are_not() {
        let files = [
            ("crates/core/src/coll/mod.rs", "mod bcast;\nmod gather;\nmod reduce_scatter;\n"),
            ("crates/core/src/coll/gather.rs", "pub fn gather() {}\n"),
            ("crates/core/src/comm/make.rs", "use crate::coll::{bcast, gather};\n"),
            ("crates/core/tests/all.rs", "bcast(); gather(); reduce_scatter();\n"),
            ("crates/core/src/talk.rs", "// bcast gather reduce_scatter\n"),
            ("spec/built.txt", "MPI_Bcast\nMPI_Igather\nMPI_Gather_init\nMPI_Reduce_scatter\n"),
        ];
        let lists = ["crates/core/src/coll/mod.rs", "crates/core/src/coll/gather.rs", "spec/built.txt"];
        assert_eq!(touched(&files, "gather"), lists);
        assert_eq!(touched(&files, "bcast"), [lists[0], lists[2]]);
    }

    #[test]
    fn a_word_speaks_of_one_collective() {
        let all = ["reduce", "reduce_scatter_block", "scatter"].map(str::to_owned).into();
        let spoken = |word| named(word, &all).map(String::as_str);
        assert_eq!(spoken("mpi_reduce_init"), Some("reduce"));
        assert_eq!(spoken("mpi_reduce_scatter_block"), Some("reduce_scatter_block"));
        assert_eq!(spoken("reduce_scatter"), None);
        assert_eq!(spoken("reducer"), None);
    }

    #[test]
    fn more_files_than_bearable_are_a_complaint_that_lists_them() {
        let all = collectives(["crates/plan/src/collective/scan/mod.rs"].into_iter());
        let sources = |count| -> Vec<Source> {
            let path = |number| format!("crates/c{number}/src/scan.rs");
            (0..count).filter_map(|number| Source::new(&path(number), "", &all)).collect()
        };
        assert!(check(&all, &sources(MOST)).is_empty());
        let complaints = check(&all, &sources(MOST + 1));
        assert!(complaints.len() == 1 && complaints[0].contains("c3/src/scan.rs"), "{complaints:?}");
    }
}
