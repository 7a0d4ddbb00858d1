//! Completion for fish.

use crate::{Dashes, Entry, Manual, Values, fill};

const PROGRAM: &str = r#"function __oxmpi_@name@_program
    set -l words (commandline -opc) (commandline -ct)
    set -e words[1]
    while set -q words[2]
        switch $words[1]
            case @two@
                set -e words[1..3]
            case @one@
                set -e words[1..2]
            case '-*'
                set -e words[1]
            case '*'
                break
        end
    end
    complete -C"$words"
end
"#;

impl Manual<'_> {
    /// A file for `share/fish/vendor_completions.d`.
    pub(crate) fn fish(&self) -> String {
        let name = self.name();
        let mut text = format!("# Completion of {name} for fish; `{name} --manual=fish` prints it.\n");
        if self.operands == Values::Program {
            text += &self.fish_program();
        }
        for program in self.names {
            let begin = format!("complete -c {program}");
            if self.commands.is_empty() {
                text += &self.fish_lines(&begin);
                continue;
            }
            let names: Vec<&str> = self.commands.iter().map(Manual::command).collect();
            let names = names.join(" ");
            let outside = format!("{begin} -n 'not __fish_seen_subcommand_from {names}'");
            text += &self.fish_lines(&outside);
            for command in self.commands {
                let word = command.command();
                text += &format!("{outside} -f -a {word} -d {}\n", quoted(command.purpose));
                text += &command.fish_lines(&format!("{begin} -n '__fish_seen_subcommand_from {word}'"));
            }
        }
        text
    }

    /// A function that proposes programs, and behind a program what it takes.
    fn fish_program(&self) -> String {
        let (two, one) = (self.taking(2).join(" "), self.taking(1).join(" "));
        fill(PROGRAM, &[("name", self.name()), ("two", &two), ("one", &one)])
    }

    fn fish_lines(&self, begin: &str) -> String {
        let options: String = self.described().map(|entry| self.fish_option(begin, entry)).collect();
        let operands = match self.operands {
            Values::Program => format!("{begin} -x -a '(__oxmpi_{}_program)'\n", self.name()),
            Values::Directories => format!("{begin} -x -a '(__fish_complete_directories)'\n"),
            Values::Files => String::new(),
            Values::None => format!("{begin} -f\n"),
            Values::Words(words) => format!("{begin} -f -a {}\n", quoted(&words.join(" "))),
        };
        options + &operands
    }

    fn fish_option(&self, begin: &str, entry: &Entry) -> String {
        let mut text = begin.to_owned();
        for name in entry.names.iter().map(|name| name.trim_end_matches('=')) {
            let is_letter = name.len() == 1;
            if is_letter {
                text += &format!(" -s {name}");
            } else if self.dashes == Dashes::Any {
                text += &format!(" -o {name}");
            }
            if !is_letter || self.dashes == Dashes::Any {
                text += &format!(" -l {name}");
            }
        }
        text += match (entry.values, entry.completes) {
            ([], _) => "",
            (_, Values::Files) => " -r -F",
            _ => " -x",
        };
        match entry.completes {
            Values::Directories => text += " -a '(__fish_complete_directories)'",
            Values::Words(words) => text += &format!(" -a {}", quoted(&words.join(" "))),
            Values::Files | Values::None | Values::Program => {}
        }
        text + &format!(" -d {}\n", quoted(entry.help))
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
