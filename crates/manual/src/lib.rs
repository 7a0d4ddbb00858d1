//! What a program says of itself, written down once: its help text, its manual page, and completion for three shells.
//!
//! A [`Manual`] is a table. Each form is a function from it to text: [`Manual::help`], and those that
//! `--manual=FORMAT` prints ([`Manual::print_as`]), which `cargo xtask install` puts where `man` and the shells look.
#![forbid(unsafe_code)]

use std::io::{self, ErrorKind, Write};

mod bash;
mod fish;
mod help;
mod man;
mod zsh;

/// A program or one of its commands.
#[derive(Clone, Copy, Debug)]
pub struct Manual<'a> {
    /// Its name, then further ones; of a command, behind the name of its program: `oxmpi plan`.
    pub names: &'a [&'a str],
    /// What it does, in half a line.
    pub purpose: &'a str,
    /// What follows its name, one line for each way to call it.
    pub usage: &'a [&'a str],
    /// More about it.
    pub about: &'a str,
    /// How many dashes its options have.
    pub dashes: Dashes,
    /// Its options.
    pub options: &'a [Entry],
    /// What its other words are.
    pub operands: Values,
    /// Its commands.
    pub commands: &'a [Manual<'a>],
    /// Tables after the options: exit status, environment, examples.
    pub sections: &'a [Section],
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its spellings without dashes; one that ends in `=` has its value joined.
    pub names: &'static [&'static str],
    /// What the values that follow stand for, one word each.
    pub values: &'static [&'static str],
    /// What can be proposed for the first value.
    pub completes: Values,
    /// What it does; empty for spellings that are accepted without effect.
    pub help: &'static str,
}

/// A table under a title.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The title.
    pub title: &'static str,
    /// What, and what is to say about it.
    pub rows: &'static [(&'static str, &'static str)],
}

/// How options begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dashes {
    /// With one dash or two, whatever their length.
    Any,
    /// Letters with one dash, words with two.
    Usual,
}

/// What a shell can propose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Directories.
    Directories,
    /// Files.
    Files,
    /// Nothing: a number, say.
    None,
    /// A program, then its own arguments.
    Program,
    /// These words.
    Words(&'static [&'static str]),
}

/// The words that `--manual` takes.
pub const FORMATS: &[&str] = &["man", "bash", "zsh", "fish"];

impl Entry {
    /// An option whose values cannot be proposed.
    pub const fn new(
        names: &'static [&'static str],
        values: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        Self { names, values, completes: Values::None, help }
    }

    /// The same with something to propose for its value.
    pub const fn completes(self, completes: Values) -> Self {
        Self { completes, ..self }
    }
}

impl Manual<'_> {
    /// The text that `format`, one of [`FORMATS`], stands for.
    pub fn print_as(&self, format: &str) -> Option<String> {
        match format {
            "man" => Some(self.man()),
            "bash" => Some(self.bash()),
            "zsh" => Some(self.zsh()),
            "fish" => Some(self.fish()),
            _ => None,
        }
    }

    /// The program's first name.
    pub fn name(&self) -> &str {
        self.names.first().copied().unwrap_or_default()
    }

    /// The last word of the name: that of the command.
    fn command(&self) -> &str {
        self.name().rsplit(' ').next().unwrap_or_default()
    }

    /// An option's name as it is shown.
    fn shown(&self, name: &str) -> String {
        let dashes = if self.dashes == Dashes::Usual && name.len() > 1 { "--" } else { "-" };
        format!("{dashes}{name}")
    }

    /// All ways to write an option's name.
    fn spellings(&self, name: &str) -> Vec<String> {
        match self.dashes {
            Dashes::Any => vec![format!("-{name}"), format!("--{name}")],
            Dashes::Usual => vec![self.shown(name)],
        }
    }

    /// All spellings of options that take so many values.
    fn taking(&self, values: usize) -> Vec<String> {
        let entries = self.options.iter().filter(|entry| entry.values.len() == values);
        entries.flat_map(|entry| self.all_spellings(entry)).collect()
    }

    /// All spellings of `entry`.
    fn all_spellings(&self, entry: &Entry) -> Vec<String> {
        entry.names.iter().flat_map(|name| self.spellings(name)).collect()
    }

    /// Every option, as it is shown.
    pub fn option_names(&self) -> Vec<String> {
        self.options.iter().flat_map(|entry| entry.names).map(|name| self.shown(name)).collect()
    }

    /// The options that do something.
    fn described(&self) -> impl Iterator<Item = &Entry> {
        self.options.iter().filter(|entry| !entry.help.is_empty())
    }

    /// The options that do nothing, as they are shown.
    fn without_effect(&self) -> Vec<String> {
        let ignored = self.options.iter().filter(|entry| entry.help.is_empty());
        ignored.flat_map(|entry| entry.names).map(|name| self.shown(name)).collect()
    }
}

/// `template` with each `@name@` replaced by what it stands for.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    parts.iter().fold(template.to_owned(), |text, (name, part)| text.replace(&format!("@{name}@"), part))
}

/// Writes `text` to standard output; that a reader has seen enough (`mpiexec --help | head`) is no failure.
///
/// # Errors
/// The system's.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
