//! Why the launcher itself could not do its work, and the exit status that says so.

use std::fmt;

/// Exit status of a failure of the launcher itself.
pub const OWN_FAILURE: u8 = 125;

/// Exit status when a program was found but cannot be executed.
pub const NOT_EXECUTABLE: u8 = 126;

/// Exit status when a program was not found.
pub const NOT_FOUND: u8 = 127;

/// A job that was not started, or could not be supervised.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    status: u8,
    text: String,
}

/// What every fallible operation of the launcher returns.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// The launcher's own failure (wrong usage, or a system call that failed).
    pub fn own(text: impl Into<String>) -> Self {
        Self { status: OWN_FAILURE, text: text.into() }
    }

    /// A system call failed while the launcher was doing `what`.
    pub fn system(what: &str, error: impl Into<std::io::Error>) -> Self {
        Self::own(format!("cannot {what}: {}", error.into()))
    }

    /// The program exists but cannot be executed.
    pub fn not_executable(text: impl Into<String>) -> Self {
        Self { status: NOT_EXECUTABLE, text: text.into() }
    }

    /// The program does not exist.
    pub fn not_found(text: impl Into<String>) -> Self {
        Self { status: NOT_FOUND, text: text.into() }
    }

    /// The exit status of the launcher.
    pub fn status(&self) -> u8 {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
