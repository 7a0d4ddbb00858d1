//! The help text.

use crate::{Entry, Manual};

/// Where descriptions begin, unless all that is described is shorter.
const MOST_LEFT: usize = 34;

impl Manual<'_> {
    /// What `--help` prints.
    pub fn help(&self) -> String {
        let mut text = String::new();
        for (index, usage) in self.usage.iter().enumerate() {
            let begin = if index == 0 { "usage:" } else { "      " };
            text += &format!("{begin} {} {usage}\n", self.name());
        }
        let about = if self.about.is_empty() { String::new() } else { format!(" {}", self.about) };
        text += &format!("\n{}.{about}\n", self.purpose);
        let commands = self.commands.iter().map(|command| (command.command().to_owned(), command.purpose));
        text += &rows(commands.collect());
        text += &rows(self.described().map(|entry| (self.left(entry), entry.help)).collect());
        let without_effect = self.without_effect();
        if !without_effect.is_empty() {
            text += "\nAccepted and without effect:\n";
            without_effect.chunks(8).for_each(|names| text += &format!("  {}\n", names.join(" ")));
        }
        for section in self.sections {
            text += &format!("\n{}:", section.title);
            text += &rows(section.rows.iter().map(|(left, right)| ((*left).to_owned(), *right)).collect());
        }
        text
    }

    /// An option with its values: `-n, -np N`.
    fn left(&self, entry: &Entry) -> String {
        let names: Vec<String> = entry.names.iter().map(|name| self.shown(name)).collect();
        let values = entry.values.join(" ");
        let space = if values.is_empty() || names.iter().all(|name| name.ends_with('=')) { "" } else { " " };
        format!("{}{space}{values}", names.join(", "))
    }
}

/// A table of two columns, after an empty line.
fn rows(rows: Vec<(String, &str)>) -> String {
    let width = rows.iter().map(|(left, _)| left.len()).max().unwrap_or_default().min(MOST_LEFT);
    let lines = rows.iter().map(|(left, right)| format!("  {left:<width$}  {right}\n"));
    let text: String = lines.collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}
