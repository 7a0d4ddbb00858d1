//! The one error type: a class of the standard, and a sentence with the values that were wrong.
//!
//! One pointer wide, so that the success path of a `Result` stays cheap; built on the cold path only.
//! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

use std::fmt;

use crate::ErrorClass;

/// A failure of an MPI operation.
pub struct Error(Box<Inner>);

struct Inner {
    class: ErrorClass,
    code: i32,
    text: String,
}

/// What every fallible operation of oxmpi returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `class`; `text` names the argument and the value that was wrong.
    #[cold]
    pub fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self(Box::new(Inner { class, code: class.code(), text: text.into() }))
    }

    /// An error that a function of the program's has reported by a code, which may be one that the program added.
    #[cold]
    pub fn returned(code: i32, text: impl Into<String>) -> Self {
        let class = ErrorClass::from_code(code).unwrap_or(ErrorClass::Other);
        Self(Box::new(Inner { class, code, text: text.into() }))
    }

    /// The same error, found where nobody knew what it is `about`: an argument by its name.
    #[cold]
    #[must_use]
    pub fn about(self, about: impl fmt::Display) -> Self {
        let text = format!("{about}: {}", self.text());
        Self(Box::new(Inner { text, ..*self.0 }))
    }

    /// The class the standard gives this failure.
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The code that a front returns: that of the class, unless the program chose it.
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// What was wrong, in one sentence.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.class, self.0.text)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_the_programs_is_kept_and_has_a_class_of_the_standard() {
        let own = Error::returned(0x4001, "the program said so");
        assert_eq!((own.class(), own.code()), (ErrorClass::Other, 0x4001));
        let known = Error::returned(ErrorClass::Rank.code(), "the program said so");
        assert_eq!((known.class(), known.code()), (ErrorClass::Rank, ErrorClass::Rank.code()));
    }
}
