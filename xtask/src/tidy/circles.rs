//! Which files of a crate need each other in a circle.
//!
//! Files in a circle are understood together or not at all. A file needs another if it names something in it, by
//! `use` or by a path: what stands behind `crate`, `super`, `self` or the name of a module of its own, as far as it
//! names files. A file that holds modules counts like any other; that it declares them is no need. Not counted are
//! comments and tests.

use std::collections::{BTreeMap, BTreeSet};

/// The crates that are looked at, with the most files that a circle may have.
const CRATES: [(&str, usize); 2] = [("cfront", 3), ("core", 3)];

/// A file, as the path of its module.
type Module = Vec<String>;

/// The files of one crate, and which others each needs.
pub struct Needs {
    folder: String,
    most: usize,
    /// By module, the paths that a file names.
    named: BTreeMap<Module, Vec<Module>>,
}

impl Needs {
    /// No files yet, of each crate that is looked at.
    pub fn of_crates() -> Vec<Self> {
        let crate_ =
            |(name, most)| Self { folder: format!("crates/{name}/src/"), most, named: BTreeMap::new() };
        CRATES.map(crate_).into()
    }

    /// Takes a file in, if it belongs to the crate.
    pub fn add(&mut self, file: &str, text: &str) {
        let path = file.strip_prefix(&self.folder).and_then(|path| path.strip_suffix(".rs"));
        let Some(path) = path.filter(|path| !path.split('/').any(|part| part == "tests")) else { return };
        let mut module: Module = path.split('/').map(str::to_owned).collect();
        if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
            module.pop();
        }
        self.named.insert(module, paths(&code(text)));
    }

    /// What is wrong with the crate.
    pub fn check(&self) -> Vec<String> {
        let reached: BTreeMap<_, _> =
            self.named.keys().map(|module| (module, self.reached(module))).collect();
        let circle = |module| -> BTreeSet<&Module> {
            let comes_back = |other: &&Module| reached[*other].contains(module);
            reached[module].iter().copied().filter(comes_back).collect()
        };
        let circles: BTreeSet<_> = self.named.keys().map(circle).collect();
        let too_large = circles.into_iter().filter(|circle| circle.len() > self.most);
        let complain = |circle: BTreeSet<&Module>| {
            let names: Vec<_> = circle.iter().map(|module| module.join("::")).collect();
            let (files, most) = (names.len(), self.most);
            format!("{}: {files} files in a circle, at most {most}: {}", self.folder, names.join(" "))
        };
        too_large.map(complain).collect()
    }

    /// The files that `module` needs, and those that these need.
    fn reached<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<_> = self.needed(module).collect();
        while let Some(next) = open.pop() {
            if reached.insert(next) {
                open.extend(self.needed(next));
            }
        }
        reached
    }

    fn needed<'a>(&'a self, module: &'a Module) -> impl Iterator<Item = &'a Module> {
        let others = self.named[module].iter().filter_map(|path| self.file(module, path));
        others.filter(move |other| *other != module)
    }

    /// The file that holds what `path` names in `module`.
    fn file(&self, module: &Module, path: &[String]) -> Option<&Module> {
        let (first, rest) = path.split_first()?;
        let mut full = module.clone();
        match first.as_str() {
            "crate" => full.clear(),
            "self" => {}
            "super" => {
                let up = path.iter().take_while(|part| *part == "super").count();
                full.truncate(module.len().saturating_sub(up));
                full.extend_from_slice(&path[up..]);
                return self.longest(full);
            }
            child => {
                full.push(child.to_owned());
                if !self.named.contains_key(&full) {
                    return None;
                }
            }
        }
        full.extend_from_slice(rest);
        self.longest(full)
    }

    fn longest(&self, mut path: Module) -> Option<&Module> {
        loop {
            if let Some((module, _)) = self.named.get_key_value(&path) {
                return Some(module);
            }
            path.pop()?;
        }
    }
}

/// A file without its comments and its tests.
fn code(text: &str) -> String {
    let text = text.split_once("#[cfg(test)]\nmod tests").map_or(text, |(code, _)| code);
    text.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect()
}

/// The paths of at least two parts in a file; a tree of `use` stands for each of its leaves.
fn paths(code: &str) -> Vec<Module> {
    let words = words(code);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() {
        at = tree(&words, at, &[], &mut found).max(at + 1);
    }
    found.retain(|path: &Module| path.len() > 1);
    found
}

/// Reads the path that begins at `at`, behind `prefix`; gives where it ends.
fn tree(words: &[&str], mut at: usize, prefix: &[String], found: &mut Vec<Module>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(word) = words.get(at) {
        match *word {
            "{" if path.len() == prefix.len() && !prefix.is_empty() => {
                at += 1;
                while at < words.len() && words[at] != "}" {
                    at = tree(words, at, &path, found).max(at + 1);
                }
                return at + 1;
            }
            word if is_name(word) => path.push(word.to_owned()),
            _ => break,
        }
        at += 1;
        match words.get(at..at + 2) {
            Some(["::", "{"]) => return tree(words, at + 1, &path, found),
            Some(["::", next]) if is_name(next) => at += 1,
            _ => break,
        }
    }
    if path.len() > prefix.len() {
        found.push(path);
    }
    at
}

fn is_name(word: &str) -> bool {
    word == "*" || word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

/// Names, and the signs that paths are made of; other signs stand alone.
fn words(code: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut words, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let len = match rest.find(|c| !is_part(c)).unwrap_or(rest.len()) {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            name => name,
        };
        words.push(&rest[..len]);
        rest = rest[len..].trim_start();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The complaints about a crate of these files, of which none may need itself by way of others.
    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let mut needs = Needs { folder: "crates/x/src/".to_owned(), most: 1, named: BTreeMap::new() };
        files.iter().for_each(|(file, text)| needs.add(&format!("crates/x/src/{file}"), text));
        needs.check()
    }

    #[test]
    fn a_circle_is_found_however_its_files_are_named() {
        let found = complaints(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use std::{fmt, io};\nuse crate::{b::Thing, c::{self, d}};"),
            ("b.rs", "fn f() { super::c::d::g(1) }"),
            ("c/mod.rs", "pub mod d;"),
            ("c/d.rs", "fn g() { let x = crate::a::Thing; }"),
        ]);
        assert_eq!(found, ["crates/x/src/: 3 files in a circle, at most 1: a b c::d"]);
    }

    #[test]
    fn a_parent_that_names_its_children_is_one_of_the_circle() {
        let found = complaints(&[("a.rs", "mod b;\npub use b::B;"), ("a/b.rs", "use super::A;")]);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn declarations_comments_and_tests_are_no_needs() {
        let files = [
            ("lib.rs", "mod a; mod b;\npub(crate) struct S;"),
            ("a.rs", "use crate::b::B; // crate::a::A\nimpl B { fn f(self) { self.b } }"),
            (
                "b.rs",
                "/// See [`crate::a`].\npub struct B;\n\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}",
            ),
            ("b/tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(complaints(&files), [""; 0]);
    }
}
