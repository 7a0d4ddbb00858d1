//! `cargo xtask api`: what the crate `oxmpi` promises, compared with its record, `crates/oxmpi/api.txt`.
//!
//! The record has all that can be used by its name, with its types, and which of these are `Send`, `Sync` and `Unpin`:
//! so a commit that changes a promise shows that it does. A line that goes, or changes, breaks programs; one that comes
//! breaks none. It is read out of what `cargo doc` writes, with all features, since that knows what macros make; as
//! another rustdoc may write it otherwise, the record says whose it is, and is compared with no other's. All crates are
//! documented for that, and no documentation may have a warning.
//!
//! Each of these items has an example, too; whether it passes, `cargo test --doc` says.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, succeed, target_directory, workspace_root};

const RECORD: &str = "crates/oxmpi/api.txt";
/// Traits of the compiler that programs rely on; whether a type has them changes with its private fields.
const AUTO: [&str; 6] = ["Send", "Sync", "Unpin", "!Send", "!Sync", "!Unpin"];

/// Sections of a page whose items are of what the page is about.
const OWN: [&str; 6] = [
    "implementations",
    "provided-methods",
    "required-associated-consts",
    "required-associated-types",
    "required-methods",
    "provided-associated-consts",
];

/// Documents all, makes the record, or compares with it, and looks for examples.
///
/// # Errors
/// If the documentation has a warning, they differ, or an item has no example that runs; the sentence says which.
pub fn run(record: bool) -> Outcome {
    let documentation = ["doc", "--workspace", "--no-deps", "--all-features"];
    succeed(cargo().args(documentation).env("RUSTDOCFLAGS", "-D warnings"))?;
    let pages = pages()?;
    let bare: Vec<_> = pages.iter().flat_map(|page| without_example(page)).collect();
    if !bare.is_empty() {
        return Err(format!("without an example that runs:\n  {}", bare.join("\n  ")).into());
    }
    let listing: String = pages.iter().map(|page| items(page)).collect();
    let written = format!("{}\n{listing}", rustdoc()?);
    let path = workspace_root().join(RECORD);
    if record {
        return Ok(fs::write(path, written)?);
    }
    let recorded = fs::read_to_string(path)?;
    if recorded.lines().next() != written.lines().next() {
        println!("== NOT COMPARED: {RECORD} is by another rustdoc; `cargo xtask api --record` makes it anew");
        return Ok(());
    }
    let (before, now) = (paths(&recorded), paths(&written));
    let gone = before.difference(&now).map(|path| format!("gone: {path}"));
    let differences: Vec<_> =
        gone.chain(now.difference(&before).map(|path| format!("new: {path}"))).collect();
    if differences.is_empty() {
        return Ok(());
    }
    let text = differences.join("\n  ");
    Err(format!("the public API is not that of {RECORD}; if so intended: cargo xtask api --record\n  {text}")
        .into())
}

fn rustdoc() -> Outcome<String> {
    let output = Command::new("rustdoc").arg("--version").current_dir(workspace_root()).output()?;
    let version = String::from_utf8(output.stdout)?;
    Ok(version.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

/// The pages of all items, in their order.
fn pages() -> Outcome<Vec<String>> {
    let folder = target_directory()?.join("doc/oxmpi");
    let all = fs::read_to_string(folder.join("all.html"))?;
    let lists = all.split("class=\"all-items\"").skip(1);
    let links = lists.flat_map(|list| list.split("<li><a href=\"").skip(1));
    let mut names: Vec<_> = links.filter_map(|link| link.split('"').next()).collect();
    if names.is_empty() {
        return Err(format!("no items are found in {}/all.html", folder.display()).into());
    }
    names.sort_unstable();
    let pages: Result<Vec<_>, _> = names.iter().map(|name| fs::read_to_string(folder.join(name))).collect();
    Ok(pages?)
}

/// What a page says: its item, inherent methods by their blocks, traits with their types.
fn items(page: &str) -> String {
    let mut said = String::new();
    for part @ Part { section, head, .. } in parts(page) {
        let name = part.name();
        let is_meant = match head {
            Head::Item => true,
            Head::Impl => match section {
                "implementations" | "trait-implementations" | "foreign-impls" => true,
                "synthetic-implementations" => {
                    AUTO.iter().any(|auto| name.contains(&format!(" {auto} for ")))
                }
                _ => false,
            },
            Head::Method => {
                section == "implementations"
                    || section == "trait-implementations" && name.starts_with("type ")
            }
        };
        if is_meant {
            said += &format!("{:depth$}{name}\n", "", depth = 2 * head as usize);
        }
    }
    said
}

/// The items of a page whose documentation has no example that runs.
fn without_example(page: &str) -> Vec<String> {
    // What an alias stands for is shown in a section.
    let is_own = |part: &Part| match part.head {
        Head::Item => part.section.is_empty(),
        Head::Impl => false,
        Head::Method => OWN.contains(&part.section),
    };
    parts(page).iter().filter(|part| is_own(part) && !part.has_example()).map(Part::name).collect()
}

/// What a page has between a heading or declaration and the next one.
#[derive(Clone, Copy)]
struct Part<'a> {
    /// The name of the section that it is in; none before the first.
    section: &'a str,
    head: Head,
    html: &'a str,
}

/// What a part begins with, by its depth.
#[derive(Clone, Copy)]
enum Head {
    Item,
    Impl,
    Method,
}

impl Head {
    /// How it begins, and ends.
    const fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Item => ("<pre class=\"rust item-decl\"", "</pre>"),
            Self::Impl => ("<h3 class=\"code-header\"", "</h3>"),
            Self::Method => ("<h4 class=\"code-header\"", "</h4>"),
        }
    }
}

impl Part<'_> {
    fn name(&self) -> String {
        text(self.html.split(self.head.tags().1).next().unwrap_or(""))
    }

    /// Whether it has an example that is to compile.
    fn has_example(&self) -> bool {
        let mut examples = self.html.split("class=\"example-wrap").skip(1);
        examples.any(|example| {
            let kinds = example.split('"').next().unwrap_or("");
            example.contains("rust-example-rendered")
                && !kinds.contains("compile_fail")
                && !kinds.contains("ignore")
        })
    }
}

/// A page in its parts.
fn parts(page: &str) -> Vec<Part<'_>> {
    const SECTION: &str = "<h2 id=\"";
    let heads = [Head::Item, Head::Impl, Head::Method];
    let heads =
        heads.iter().flat_map(|&head| page.match_indices(head.tags().0).map(move |(at, _)| (at, Some(head))));
    // Documentation has headings, too.
    let sections = page.match_indices(SECTION).map(|(at, _)| (at, None));
    let sections = sections
        .filter(|&(at, _)| page[at..].split('>').next().is_some_and(|tag| tag.contains("section-header")));
    let mut places: Vec<_> = heads.chain(sections).chain([(page.len(), None)]).collect();
    places.sort_unstable_by_key(|&(at, _)| at);
    let (mut section, mut parts) = ("", Vec::new());
    for pair in places.windows(2) {
        let html = &page[pair[0].0..pair[1].0];
        match pair[0].1 {
            Some(head) => parts.push(Part { section, head, html }),
            None => section = html[SECTION.len()..].split('"').next().unwrap_or(""),
        }
    }
    parts
}

/// What is read of it, in one line.
fn text(html: &str) -> String {
    let mut plain = String::new();
    let mut hidden = false;
    for piece in html.split('<') {
        let (tag, rest) = piece.split_once('>').unwrap_or(("", piece));
        // A button that unfolds a long declaration.
        hidden = (hidden || tag.starts_with("summary")) && tag != "/summary";
        if tag.starts_with("div") || tag == "/div" {
            plain.push(' ');
        }
        if !hidden {
            plain.push_str(rest);
        }
    }
    let entities =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")];
    let plain = entities.iter().fold(plain, |text, (entity, letter)| text.replace(entity, letter));
    plain.split_whitespace().collect::<Vec<_>>().join(" ").trim_end_matches('§').to_owned()
}

/// The lines of a listing, each with those that it belongs to.
fn paths(listing: &str) -> BTreeSet<String> {
    let (mut above, mut all) = (Vec::<&str>::new(), BTreeSet::new());
    for line in listing.lines().skip(1) {
        let item = line.trim_start();
        above.truncate((line.len() - item.len()) / 2);
        above.push(item);
        all.insert(above.join(" > "));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r##"<h2 class="location">Group</h2>
        <pre class="rust item-decl"><code>pub struct <a href="#">Group</a>&lt;'env&gt;<div class="where">where
            L: Level,</div>{ <span>/* private fields */</span> }</code></pre>
        <h2 id="implementations" class="section-header">Implementations<a>§</a></h2>
        <section><h3 class="code-header">impl&lt;'env&gt; <a>Group</a>&lt;'env&gt;</h3>
        <h4 class="code-header">pub fn <a>size</a>(&amp;self) -&gt; usize</h4>
        <h2 id="trait-implementations" class="section-header">Trait Implementations</h2>
        <h3 class="code-header">impl Future for Group</h3>
        <h4 class="code-header">type <a>Output</a> = usize</h4><h4 class="code-header">fn poll()</h4>
        <h2 id="synthetic-implementations" class="section-header">Auto Trait Implementations</h2>
        <h3 class="code-header">impl !Send for Group</h3><h3 class="code-header">impl Freeze for Group</h3>
        <h2 id="blanket-implementations" class="section-header">Blanket Implementations</h2>
        <h3 class="code-header">impl Any for T</h3>"##;
    const LISTING: &str = "pub struct Group<'env> where L: Level, { /* private fields */ }\n  \
        impl<'env> Group<'env>\n    pub fn size(&self) -> usize\n  impl Future for Group\n    \
        type Output = usize\n  impl !Send for Group\n";

    #[test]
    fn a_page_is_read_for_what_programs_can_use() {
        assert_eq!(items(PAGE), LISTING);
    }

    #[test]
    fn an_item_without_an_example_is_found() {
        let size = "pub fn size(&self) -> usize";
        assert_eq!(without_example(PAGE), [LISTING.lines().next().expect("there are lines"), size]);
        let example = r#"<div class="example-wrap"><pre class="rust rust-example-rendered"></pre></div>"#;
        let with = |example: &str| {
            PAGE.replace("</h4>\n        <h2 id=\"trait", &format!("</h4>{example}<h2 id=\"trait"))
        };
        assert_eq!(without_example(&with(example)).len(), 1);
        let failing = example.replace("example-wrap", "example-wrap compile_fail");
        assert_eq!(without_example(&with(&failing)).len(), 2);
    }

    #[test]
    fn the_same_name_elsewhere_is_another_promise() {
        let before = paths("rustdoc\nA\n  impl A\n    fn x()\nB\n  impl B\n");
        let now = paths("rustdoc\nA\n  impl A\nB\n  impl B\n    fn x()\n");
        assert_eq!(before.difference(&now).collect::<Vec<_>>(), ["A > impl A > fn x()"]);
        assert_eq!(now.difference(&before).collect::<Vec<_>>(), ["B > impl B > fn x()"]);
    }
}
