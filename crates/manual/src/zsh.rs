//! Completion for zsh.

use crate::{Entry, Manual, Values};

impl Manual<'_> {
    /// A file for `share/zsh/site-functions`.
    pub(crate) fn zsh(&self) -> String {
        let name = self.name();
        let mut text = format!(
            "#compdef {}\n# Completion of {name} for zsh; `{name} --manual=zsh` prints it.\n",
            self.names.join(" ")
        );
        if self.commands.is_empty() {
            return text + &self.zsh_arguments("", None);
        }
        text += "if ((CURRENT > 2)); then\n    case $words[2] in\n";
        for command in self.commands {
            let arguments = command.zsh_arguments("        ", None);
            text += &format!(
                "    {})\n        shift words\n        ((CURRENT -= 1))\n{arguments}        return ;;\n",
                command.command()
            );
        }
        let commands: Vec<String> = self
            .commands
            .iter()
            .map(|command| format!("{}\\:{}", command.command(), quoted(command.purpose).replace(' ', "\\ ")))
            .collect();
        text += "    esac\nfi\n";
        text + &self.zsh_arguments("", Some(format!("'1:command:(({}))'", commands.join(" "))))
    }

    /// The call that proposes options and what stands between them; `operand` instead of what the manual says.
    fn zsh_arguments(&self, indent: &str, operand: Option<String>) -> String {
        let specs = self
            .described()
            .flat_map(|entry| self.all_spellings(entry).into_iter().map(|name| spec(entry, &name)));
        let operands = match (operand, self.operands) {
            (Some(operand), _) => vec![operand],
            (None, Values::Program) => {
                vec!["'(-)1:program:_command_names -e'".to_owned(), "'*::arguments:_normal'".to_owned()]
            }
            (None, values) => vec![format!("'*:{}'", action("argument", values))],
        };
        let all: Vec<String> = specs.chain(operands).collect();
        format!("{indent}_arguments \\\n{indent}    {}\n", all.join(&format!(" \\\n{indent}    ")))
    }
}

/// One spelling of an option, with its values.
fn spec(entry: &Entry, name: &str) -> String {
    let joined = if name.ends_with('=') { "-" } else { "" };
    let values = entry.values.iter().enumerate().map(|(index, value)| {
        let completes = if index == 0 { entry.completes } else { Values::None };
        format!(":{}", action(value, completes))
    });
    // A colon would end the name.
    let name = name.replace(':', "\\:");
    format!("'*{name}{joined}[{}]{}'", quoted(entry.help), values.collect::<String>())
}

/// What is to be said, a colon, and what to propose.
fn action(message: &str, values: Values) -> String {
    let action = match values {
        Values::Directories => "_directories".to_owned(),
        Values::Files => "_files".to_owned(),
        Values::None | Values::Program => " ".to_owned(),
        Values::Words(words) => format!("({})", words.join(" ")),
    };
    format!("{}:{action}", quoted(message))
}

/// Text between single quotes in a specification.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        match letter {
            '\'' => quoted += "'\\''",
            '[' | ']' | ':' | '\\' | '(' | ')' => quoted.extend(['\\', letter]),
            letter => quoted.push(letter),
        }
    }
    quoted
}
