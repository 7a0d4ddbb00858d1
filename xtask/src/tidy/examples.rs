//! Documentation of what `oxmpi` exports: each item has an example, or a link, as to one that has.
//!
//! Whether an example passes, `cargo test --doc` says, and whether a link leads anywhere, `cargo doc`.

/// Where this holds.
const FOLDER: &str = "crates/oxmpi/src/";
/// A macro whose calls document methods of what is exported. (The others of that kind make their examples.)
const MACRO: &str = "sends! {";
const KINDS: [&str; 8] =
    ["const ", "const fn ", "enum ", "fn ", "struct ", "trait ", "type ", "unsafe trait "];

/// The names that the crate's root exports.
pub fn exports(root: &str) -> Vec<&str> {
    let uses = root.split("pub use ").skip(1).filter_map(|rest| Some(rest.split_once(';')?.0));
    let names = uses.flat_map(|path| path.split(['{', '}', ',', ':']).map(str::trim));
    names.filter(|name| !name.is_empty()).collect()
}

/// Items of a file whose documentation has neither.
pub fn check(file: &str, text: &str, exports: &[&str]) -> Vec<String> {
    if !file.starts_with(FOLDER) {
        return vec![];
    }
    let (mut complaints, mut docs, mut place) = (Vec::new(), String::new(), Place::Apart);
    let mut in_attribute = false;
    for (index, line) in text.lines().enumerate().take_while(|(_, line)| *line != "#[cfg(test)]") {
        let code = line.trim_start();
        if in_attribute || code.starts_with("//") || code.starts_with('#') {
            docs.push_str(code);
            in_attribute = (in_attribute || code.starts_with('#')) && !code.ends_with(']');
            continue;
        }
        place = match line {
            "}" => Place::Apart,
            _ if line == MACRO => Place::Call,
            // In a macro it may stand further in.
            _ => receiver(code)
                .map_or(place, |name| if exports.contains(&name) { Place::Of } else { Place::Apart }),
        };
        let is_meant = match place {
            Place::Apart => item(line).is_some_and(|name| exports.contains(&name)),
            Place::Call => !docs.is_empty(),
            Place::Of => item(code).is_some_and(|name| !name.starts_with('$')),
        };
        let shows = docs.contains("```") || docs.contains("[`") || docs.contains("](");
        if is_meant && !shows && !docs.contains("doc(hidden)") {
            complaints.push(format!(":{}: no example, nor a link to one: {code}", index + 1));
        }
        docs.clear();
    }
    complaints
}

#[derive(Clone, Copy)]
enum Place {
    /// Outside, or in a block of what is not exported.
    Apart,
    /// In a call of a macro.
    Call,
    /// In a block of what is exported.
    Of,
}

/// The name of a public item.
fn item(code: &str) -> Option<&str> {
    let item = code.strip_prefix("pub ")?;
    let name = KINDS.iter().find_map(|kind| item.strip_prefix(kind))?;
    name.split(|letter: char| letter != '_' && letter != '$' && !letter.is_alphanumeric()).next()
}

/// Whose methods a block has, if it is no trait's.
fn receiver(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("impl")?.strip_suffix('{')?;
    let mut depth = 0;
    let after = rest.find(|letter| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        depth == 0
    })?;
    let name = rest[after..].trim_start_matches(['>', ' ']).split(['<', ' ']).next()?;
    Some(if code.contains(" for ") { "" } else { name.trim_start_matches("crate::") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_exported_has_an_example_or_a_link() {
        let exported =
            exports("pub use group::{Comparison,\n    Group};\npub use run::run;\nuse door::Door;\n");
        assert_eq!(exported, ["group", "Comparison", "Group", "run", "run"]);
        let found = |text| check("crates/oxmpi/src/group.rs", text, &exported).len();
        assert_eq!(
            found("impl<'env, L: Level> Group<'env, L> {\n    /// Of [`X`].\n    pub fn size() {}\n}\n"),
            0
        );
        assert_eq!(
            found("impl<'env, L: Level> Group<'env, L> {\n    /// How many.\n    pub fn size() {}\n}\n"),
            1
        );
        assert_eq!(
            found("impl Door<'_> {\n    /// How many.\n    pub fn size() {}\n}\npub struct Door;\n"),
            0
        );
        assert_eq!(found("/// See above.\npub struct Group {\n"), 1);
        assert_eq!(found("/// ```\n/// ```\npub fn run() {}\n"), 0);
        assert_eq!(found("sends! {\n    /// What.\n    ssend issend\n    (Ssend)\n}\n"), 1);
        assert_eq!(check("crates/core/src/group.rs", "pub struct Group {\n", &exported), [""; 0]);
    }
}
