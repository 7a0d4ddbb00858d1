//! The guide, and whatever else is written in Markdown: pages are listed, links lead somewhere, programs are run.
//!
//! The programs themselves are doc tests of the crate `oxmpi`, which names each page that has one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::cargo::workspace_root;
use crate::{Outcome, tidy};

const GUIDE: &str = "docs/guide/src";
const TESTED: &str = "crates/oxmpi/src/guide.rs";
/// Languages of blocks that are not run.
const SHOWN: [&str; 3] = ["sh", "text", "toml"];

/// Checks the guide, and the links of all pages.
pub fn run() -> Outcome {
    let root = workspace_root();
    let mut wrong = guide(root)?;
    for page in tidy::files(root, "*.md")? {
        wrong.extend(dead_links(root, &page)?);
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n  ").into()) }
}

/// What is wrong with pages of the guide.
fn guide(root: &Path) -> Outcome<Vec<String>> {
    let (mut pages, folder) = (BTreeSet::new(), root.join(GUIDE));
    for entry in fs::read_dir(&folder)? {
        pages.insert(entry?.file_name().to_string_lossy().into_owned());
    }
    pages.remove("SUMMARY.md");
    let summary = fs::read_to_string(folder.join("SUMMARY.md"))?;
    let tested = fs::read_to_string(root.join(TESTED))?;
    let listed: Vec<&str> = links(&summary).map(|(_, target)| target).collect();
    let mut wrong = Vec::new();
    for page in &pages {
        if listed.iter().filter(|name| *name == page).count() != 1 {
            wrong.push(format!("{GUIDE}/SUMMARY.md does not list {page} once"));
        }
        let text = fs::read_to_string(folder.join(page))?;
        let is_tested = tested.contains(&format!("{GUIDE}/{page}"));
        wrong.extend(blocks(&text, is_tested).map(|why| format!("{GUIDE}/{page}: {why}")));
    }
    Ok(wrong)
}

/// What is wrong with blocks of a page, of which the doc tests have the programs or not.
fn blocks(text: &str, is_tested: bool) -> impl Iterator<Item = String> {
    let marks = text.lines().filter_map(|line| line.trim_start().strip_prefix("```"));
    marks.step_by(2).filter_map(move |language| match language {
        "rust" if is_tested => None,
        "rust" => Some(format!("{TESTED} does not have its program")),
        shown if SHOWN.contains(&shown) => None,
        other => Some(format!("a block of {other:?} is neither run nor only shown")),
    })
}

/// Links of a page to what is not there.
fn dead_links(root: &Path, page: &str) -> Outcome<Vec<String>> {
    let path = root.join(page);
    let text = fs::read_to_string(&path)?;
    let folder = path.parent().expect("a file is in a folder");
    let is_dead = |target: &str| {
        let (file, heading) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
        let there = if file.is_empty() { path.clone() } else { folder.join(file) };
        let has = |heading: &str| {
            fs::read_to_string(&there).is_ok_and(|text| headings(&text).any(|found| found == heading))
        };
        !there.exists() || heading.is_some_and(|heading| !has(heading))
    };
    let dead = links(&text).filter(|(_, target)| !target.contains("://") && is_dead(target));
    Ok(dead.map(|(line, target)| format!("{page}:{line}: there is no {target}")).collect())
}

/// Where the links of a page lead, each with its line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    outside_of_blocks(text).flat_map(|(number, line)| {
        // Every other piece is code.
        let prose = line.split('`').step_by(2);
        prose.flat_map(move |prose| {
            prose.split("](").skip(1).filter_map(move |rest| Some((number, rest.split_once(')')?.0)))
        })
    })
}

/// The names by which links lead to the headings of a page.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let headings = outside_of_blocks(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|&letter| letter.is_alphanumeric() || " -_".contains(letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    })
}

/// Lines with their numbers, but for those of code.
fn outside_of_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_mark = line.trim_start().starts_with("```");
        is_code ^= is_mark;
        !is_code && !is_mark
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A page\n\n\
        See [there](there.md#what-is-there) and `[no](link)`, [here](../README.md).\n\
        ```rust\nlet x = a[1](2);\n```\n## What, is there: `all`\n";

    #[test]
    fn links_are_those_of_prose() {
        let found = Vec::from_iter(links(PAGE));
        assert_eq!(found, [(3, "there.md#what-is-there"), (3, "../README.md")]);
    }

    #[test]
    fn a_link_to_a_heading_is_made_of_its_words() {
        assert_eq!(Vec::from_iter(headings(PAGE)), ["a-page", "what-is-there-all"]);
    }

    #[test]
    fn each_block_is_run_or_only_shown() {
        assert_eq!(blocks(PAGE, true).count(), 0);
        let untested = Vec::from_iter(blocks(PAGE, false));
        assert!(untested[0].contains("does not have its program"), "{untested:?}");
        let ignored = Vec::from_iter(blocks("```rust,ignore\n```\n```sh\nls\n```\n", true));
        assert_eq!(ignored, ["a block of \"rust,ignore\" is neither run nor only shown"]);
    }
}
