//! The manual page, in the macros `man(7)` that every roff has.

use crate::{Manual, Section};

impl Manual<'_> {
    /// The page in section 1.
    pub(crate) fn man(&self) -> String {
        let title = self.name().to_uppercase();
        let version = env!("CARGO_PKG_VERSION");
        let mut page = format!(".TH {} 1 \"\" \"oxmpi {version}\" \"oxmpi\"\n.SH NAME\n", plain(&title));
        page += &format!("{} \\- {}\n", plain(&self.names.join(", ")), plain(&lowercase(self.purpose)));
        page += ".SH SYNOPSIS\n";
        page += &self.synopsis();
        page += &format!(".SH DESCRIPTION\n{}. {}\n", plain(self.purpose), plain(self.about));
        for command in self.commands {
            page += &format!(".SH {}\n", plain(&command.command().to_uppercase()));
            page += &format!("{}.\n.PP\n{}", plain(command.purpose), command.synopsis());
            if !command.about.is_empty() {
                page += &format!(".PP\n{}\n", plain(command.about));
            }
            page += &command.option_list();
        }
        if !self.options.is_empty() {
            page += &format!(".SH OPTIONS\n{}", self.option_list());
        }
        self.sections.iter().for_each(|section| page += &table(section));
        page
    }

    fn synopsis(&self) -> String {
        let line = |usage: &&str| format!(".B {}\n{}\n", plain(self.name()), plain(usage));
        self.usage.iter().map(line).collect::<Vec<_>>().join(".br\n")
    }

    fn option_list(&self) -> String {
        let mut text = String::new();
        for entry in self.described() {
            let names: Vec<String> =
                entry.names.iter().map(|name| format!("\\fB{}\\fR", plain(&self.shown(name)))).collect();
            let space = if entry.names.iter().all(|name| name.ends_with('=')) { "" } else { " " };
            let values: String =
                entry.values.iter().map(|value| format!("{space}\\fI{}\\fR", plain(value))).collect();
            text += &format!(".TP\n{}{values}\n{}\n", names.join(", "), plain(entry.help));
        }
        let without_effect = self.without_effect();
        if !without_effect.is_empty() {
            let names = plain(&without_effect.join(" "));
            text += &format!(".PP\nAccepted and without effect: {names}\n");
        }
        text
    }
}

fn table(section: &Section) -> String {
    let row = |(left, right): &(&str, &str)| format!(".TP\n\\fB{}\\fR\n{}\n", plain(left), plain(right));
    let rows: String = section.rows.iter().map(row).collect();
    format!(".SH {}\n{rows}", plain(&section.title.to_uppercase()))
}

/// Text as roff takes it literally, also where a line begins with it.
fn plain(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    if escaped.starts_with(['.', '\'']) { format!("\\&{escaped}") } else { escaped }
}

fn lowercase(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
