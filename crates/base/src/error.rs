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
    text: String,
}

/// What every fallible operation of oxmpi returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `class`; `text` names the argument and the value that was wrong.
    #[cold]
    pub fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self(Box::new(Inner { class, text: text.into() }))
    }

    /// The class the standard gives this failure.
    pub fn class(&self) -> ErrorClass {
        self.0.class
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
