//! Completion for bash, 4 or later; needs no other package.

use crate::{Entry, Manual, Values, fill};

const FILE: &str = r#"# Completion of @name@ for bash; `@name@ --manual=bash` prints it.
_oxmpi_@name@() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    [[ $word == = ]] && word=
    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
    COMPREPLY=()
@body@}
complete -o bashdefault -o default -F _oxmpi_@name@ @names@
"#;

/// Leaves the words after the program to the shell's default.
const PROGRAM: &str = r#"    local at=1 index
    for ((index = 1; index < COMP_CWORD; index++)); do
        [[ ${COMP_WORDS[index]} == : ]] && ((at = index + 1))
    done
    while ((at < COMP_CWORD)); do
        case ${COMP_WORDS[at]} in
        @two@) ((at += 3)) ;;
        @one@) [[ ${COMP_WORDS[at + 1]} == = ]] && ((at += 1)); ((at += 2)) ;;
        -*) ((at += 1)) ;;
        *) return ;;
        esac
    done
"#;

/// What follows an option.
const VALUE: &str = r#"    @names@)
        mapfile -t COMPREPLY < <(@reply@)
        return ;;
"#;

const WORD: &str = r#"    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "@options@" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(@operands@) ;;
    esac
"#;

impl Manual<'_> {
    /// A file for `share/bash-completion/completions`.
    pub(crate) fn bash(&self) -> String {
        let mut body = String::new();
        for command in self.commands {
            let (word, own) = (command.command(), indented(&command.bash_body(&[])));
            body += &format!("    if [[ ${{COMP_WORDS[1]}} == {word} ]] && ((COMP_CWORD > 1)); then\n");
            body += &format!("{own}        return\n    fi\n");
        }
        let commands: Vec<&str> = self.commands.iter().map(Manual::command).collect();
        body += &self.bash_body(&commands);
        fill(FILE, &[("name", self.name()), ("names", &self.names.join(" ")), ("body", &body)])
    }

    /// Proposes for `$word` after `$before`; `commands` may stand there too.
    fn bash_body(&self, commands: &[&str]) -> String {
        let mut body = String::new();
        if self.operands == Values::Program {
            let parts = [("two", self.taking(2).join("|")), ("one", self.taking(1).join("|"))];
            body += &fill(PROGRAM, &parts.each_ref().map(|(name, part)| (*name, part.as_str())));
        }
        let cases: String = self.options.iter().filter_map(|entry| self.bash_case(entry)).collect();
        if !cases.is_empty() {
            body += &format!("    case $before in\n{cases}    esac\n");
        }
        let options: Vec<String> = self.described().flat_map(|entry| self.all_spellings(entry)).collect();
        let operands = reply(self.operands, commands);
        body + &fill(WORD, &[("options", &options.join(" ")), ("operands", &operands)])
    }

    /// What to propose after an option that takes a value.
    fn bash_case(&self, entry: &Entry) -> Option<String> {
        if entry.values.is_empty() || entry.names.iter().all(|name| name.ends_with('=')) {
            return None;
        }
        let names = self.all_spellings(entry).join("|");
        Some(fill(VALUE, &[("names", &names), ("reply", &reply(entry.completes, &[]))]))
    }
}

/// The command that prints proposals, `further` words among them.
fn reply(values: Values, further: &[&str]) -> String {
    let kind = match values {
        Values::Directories => "-d".to_owned(),
        Values::Files => "-f".to_owned(),
        Values::None if further.is_empty() => return "true".to_owned(),
        Values::None => format!("-W \"{}\"", further.join(" ")),
        Values::Program => "-c".to_owned(),
        Values::Words(words) => format!("-W \"{}\"", [further, words].concat().join(" ")),
    };
    format!("compgen {kind} -- \"$word\"")
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}
