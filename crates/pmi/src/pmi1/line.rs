//! A line of PMI-1: words `name=value` with spaces between; the last value may have spaces itself.

use std::fmt;
use std::io;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    words: Vec<(String, String)>,
}

impl Line {
    /// One with this command.
    pub fn of(command: &str) -> Self {
        Self { words: Vec::new() }.with("cmd", command)
    }

    /// The same with a further word. Neither part has a space, or ends a line.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        debug_assert!(!format!("{name}{value}").contains([' ', '\n']) && !name.contains('='));
        self.words.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What a text says, if it is a line.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_suffix('\n').unwrap_or(text).trim();
        let mut words: Vec<(String, String)> = Vec::new();
        for word in text.split(' ').filter(|word| !word.is_empty()) {
            match (word.split_once('='), words.last_mut()) {
                (Some((name, value)), _) if !name.is_empty() => {
                    words.push((name.to_owned(), value.to_owned()))
                }
                // What explains a failure may be a sentence.
                (_, Some((_, value))) => {
                    value.push(' ');
                    value.push_str(word);
                }
                _ => return None,
            }
        }
        let line = Self { words };
        line.get("cmd").is_some().then_some(line)
    }

    /// Its command.
    pub fn command(&self) -> &str {
        self.get("cmd").unwrap_or_default()
    }

    /// Whether it says that all is well: most answers do not say.
    pub fn is_good(&self) -> bool {
        self.get("rc").is_none_or(|code| code == "0")
    }

    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.words.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The same, where it must be there.
    ///
    /// # Errors
    /// `InvalidData` if it is not.
    pub fn needed(&self, name: &str) -> io::Result<&str> {
        let missing = || io::Error::new(io::ErrorKind::InvalidData, format!("`{self}` does not say {name}"));
        self.get(name).ok_or_else(missing)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.words.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{name}={value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_hydra_says_is_understood() {
        let line = Line::parse("cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n").expect("a line");
        assert!(line.command() == "get_result" && line.is_good());
        assert_eq!(line.get("value"), Some("(vector,(0,1,2))"));
        let line = Line::parse("cmd=get_result rc=-1 msg=key_x_not found value=unknown").expect("a line");
        assert!(!line.is_good() && line.get("msg") == Some("key_x_not found"));
    }

    #[test]
    fn what_is_no_line_is_none() {
        for wrong in ["", "\n", "hello", "=1", "rc=0", "x cmd=1"] {
            assert_eq!(Line::parse(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn lines_round_trip(words in vec(("[a-z_]{1,9}", "[!-~]{0,9}"), 0..5)) {
            let words = words.iter().filter(|(name, _)| name != "cmd");
            let line = words.fold(Line::of("put"), |line, (name, value)| line.with(name, value));
            prop_assert_eq!(Line::parse(&format!("{line}\n")), Some(line));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "(cmd=)?\\PC{0,60}") {
            let _ = Line::parse(&text);
        }
    }
}
