//! What one call of the wrapper asks for.

use std::ffi::{OsStr, OsString};

use crate::installation::{Installation, LIBRARY, Language};

/// What to do about a command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// Explain the wrapper.
    Help,
    /// Print the manual in this form.
    Manual(String),
    /// Answer a query.
    Print(String),
    /// Run the compiler: the program, then its arguments.
    Run(Vec<OsString>),
}

/// A command line, with everything that its meaning depends on.
pub struct Invocation<'a> {
    installation: &'a Installation,
    compiler: Vec<String>,
    /// The first query on the command line.
    query: Option<String>,
    /// What goes to the compiler.
    arguments: Vec<OsString>,
}

impl<'a> Invocation<'a> {
    /// Splits `arguments` into ours and the compiler's; `variable` reads the environment.
    pub fn new(
        installation: &'a Installation,
        language: Language,
        arguments: Vec<OsString>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let mut invocation =
            Self { installation, compiler: language.compiler(variable), query: None, arguments: Vec::new() };
        for argument in arguments {
            let text = argument.to_string_lossy();
            let option = language.compiler_option();
            let named = text.strip_prefix(option).or_else(|| text.strip_prefix('-')?.strip_prefix(option));
            if let Some(compiler) = named {
                invocation.compiler = vec![compiler.to_owned()];
            } else if is_query(&text) {
                invocation.query.get_or_insert(text.into_owned());
            } else {
                invocation.arguments.push(argument);
            }
        }
        invocation
    }

    /// What to do.
    ///
    /// # Errors
    /// A sentence, if the query is not known.
    pub fn action(&self) -> Result<Action, String> {
        let Some(query) = &self.query else {
            return Ok(Action::Run(self.command()));
        };
        let installation = self.installation;
        let compile = text_of(&installation.compile_flags());
        let link = text_of(&installation.link_flags());
        let compiler = text_of(&self.compiler);
        Ok(Action::Print(match query.trim_start_matches('-') {
            "help" => return Ok(Action::Help),
            name if name.starts_with(MANUAL) => return Ok(Action::Manual(name[MANUAL.len()..].to_owned())),
            "show" | "showme" => self.whole_command(),
            "showme:command" => compiler,
            "showme:compile" => compile,
            "showme:link" => link,
            "showme:incdirs" => text_of(&[installation.include()]),
            "showme:libdirs" => text_of(&[installation.lib()]),
            "showme:libs" => LIBRARY.to_owned(),
            "showme:version" => concat!("oxmpi ", env!("CARGO_PKG_VERSION")).to_owned(),
            "compile_info" | "compile-info" | "show-compile-info" => format!("{compiler} {compile}"),
            "link_info" | "link-info" | "show-link-info" => format!("{compiler} {link}"),
            _ => return Err(format!("no such query: {query} (see mpicc -help)")),
        }))
    }

    /// The command to run: ours in front for headers, behind for libraries, and only what it needs.
    fn command(&self) -> Vec<OsString> {
        let (has_input, links) = inspect(&self.arguments);
        let mut command: Vec<OsString> = self.compiler.iter().map(Into::into).collect();
        if has_input {
            command.extend(self.installation.compile_flags().into_iter().map(Into::into));
        }
        command.extend_from_slice(&self.arguments);
        if has_input && links {
            command.extend(self.installation.link_flags().into_iter().map(Into::into));
        }
        command
    }

    /// The command that `-show` prints: without a file, the one that compiles and links.
    fn whole_command(&self) -> String {
        let (_, links) = inspect(&self.arguments);
        let mut words = self.compiler.clone();
        words.extend(self.installation.compile_flags());
        words.extend(self.arguments.iter().map(|argument| argument.to_string_lossy().into_owned()));
        if links {
            words.extend(self.installation.link_flags());
        }
        text_of(&words)
    }
}

/// The words as a shell reads them back, and CMake, which looks for `-I"a folder"`.
fn text_of(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_+=:,./@%^".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let option = ["-I", "-L", "-Wl,"].into_iter().find(|option| word.starts_with(option)).unwrap_or("");
    let mut text = format!("{option}\"");
    for letter in word[option.len()..].chars() {
        if "\"\\$`".contains(letter) {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    text
}

/// Whether an argument asks the wrapper something; what it asks may be unknown.
fn is_query(argument: &str) -> bool {
    let name = argument.trim_start_matches('-');
    argument.starts_with('-')
        && (name.starts_with("show")
            || name.starts_with("cray-print-opts")
            || name.starts_with(MANUAL)
            || matches!(name, "help" | "compile_info" | "compile-info" | "link_info" | "link-info"))
}

/// Whether the compiler's `arguments` name anything to compile or link, and whether it will link.
fn inspect(arguments: &[OsString]) -> (bool, bool) {
    let mut has_input = false;
    let mut links = true;
    let mut rest = arguments.iter().map(OsString::as_os_str);
    while let Some(argument) = rest.next() {
        if STOPS_BEFORE_LINKING.iter().any(|option| argument == OsStr::new(option)) {
            links = false;
        } else if TAKES_A_VALUE.iter().any(|option| argument == OsStr::new(option)) {
            rest.next();
        } else if argument == "-" || !argument.as_encoded_bytes().starts_with(b"-") {
            has_input = true;
        }
    }
    (has_input, links)
}

const MANUAL: &str = "manual=";

const STOPS_BEFORE_LINKING: [&str; 6] = ["-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"];

/// Options of gcc and clang whose value is the next argument.
const TAKES_A_VALUE: [&str; 26] = [
    "-o",
    "-x",
    "-I",
    "-L",
    "-D",
    "-U",
    "-T",
    "-u",
    "-z",
    "-e",
    "-B",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xclang",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isysroot",
    "--param",
    "-aux-info",
];

#[cfg(test)]
mod tests;
