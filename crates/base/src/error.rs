//! The one error type: a class of the standard, and a sentence with the values that were wrong.
//!
//! One pointer wide, so that the success path of a `Result` stays cheap; built on the cold path only.
//! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

use std::fmt;

use crate::{ErrorClass, Function};

/// A failure of an MPI operation.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    class: ErrorClass,
    code: i32,
    /// The call, and the rank of `MPI_COMM_WORLD` that made it, once they are known.
    place: Option<(Function, Option<u32>)>,
    text: String,
}

/// What every fallible operation of oxmpi returns.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `class`; `text` names the argument and the value that was wrong.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::{Error, ErrorClass};
    ///
    /// let error = Error::new(ErrorClass::Count, "count is 3, which is odd");
    /// assert_eq!(error.to_string(), "count is 3, which is odd (MPI_ERR_COUNT)");
    /// ```
    #[cold]
    pub fn new(class: ErrorClass, text: impl Into<String>) -> Self {
        Self(Box::new(Inner { class, code: class.code(), place: None, text: text.into() }))
    }

    /// An error that a function of the program's has reported by a code, which may be one that the program added.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::{Error, ErrorClass};
    ///
    /// let error = Error::returned(ErrorClass::Tag.code(), "the library was given a wrong tag");
    /// assert_eq!(error.class(), ErrorClass::Tag);
    /// assert_eq!(Error::returned(1_000_000, "a code of its own").class(), ErrorClass::Other);
    /// ```
    #[cold]
    pub fn returned(code: i32, text: impl Into<String>) -> Self {
        let class = ErrorClass::from_code(code).unwrap_or(ErrorClass::Other);
        Self(Box::new(Inner { class, code, place: None, text: text.into() }))
    }

    /// The same error, found where nobody knew what it is `about`: an argument by its name.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::{Error, ErrorClass};
    ///
    /// let error = Error::new(ErrorClass::Arg, "there are no cells").about("mesh");
    /// assert_eq!(error.text(), "mesh: there are no cells");
    /// ```
    #[cold]
    #[must_use]
    pub fn about(self, about: impl fmt::Display) -> Self {
        let text = format!("{about}: {}", self.text());
        Self(Box::new(Inner { text, ..*self.0 }))
    }

    /// The same error, of this call by this rank of `MPI_COMM_WORLD`, unless it is that of another call already.
    #[cold]
    #[doc(hidden)]
    #[must_use]
    pub fn in_call(mut self, function: Function, rank: Option<u32>) -> Self {
        self.0.place.get_or_insert((function, rank));
        self
    }

    /// The class the standard gives this failure.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::{Error, ErrorClass};
    ///
    /// let is_recoverable = |error: &Error| matches!(error.class(), ErrorClass::NoMem | ErrorClass::Truncate);
    /// assert!(is_recoverable(&Error::new(ErrorClass::NoMem, "shared memory is used up")));
    /// ```
    pub fn class(&self) -> ErrorClass {
        self.0.class
    }

    /// The code that a front returns: that of the class, unless the program chose it.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::{Error, ErrorClass};
    ///
    /// assert_eq!(Error::new(ErrorClass::Tag, "tag is -3").code(), ErrorClass::Tag.code());
    /// assert_eq!(Error::returned(1_000_000, "a code of its own").code(), 1_000_000);
    /// ```
    pub fn code(&self) -> i32 {
        self.0.code
    }

    /// The call that failed, by its name in C: `MPI_Send`.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// # let call = || oxmpi::Error::new(oxmpi::ErrorClass::Tag, "tag is -3").in_call(oxmpi::Function::Send, Some(2));
    /// let error = call(); // rank 2 sends with a wrong tag
    /// assert_eq!(error.function(), Some("MPI_Send"));
    /// assert_eq!(oxmpi::Error::new(oxmpi::ErrorClass::Arg, "of the program's own").function(), None);
    /// ```
    pub fn function(&self) -> Option<&'static str> {
        self.0.place.map(|(function, _)| function.name())
    }

    /// The rank of `MPI_COMM_WORLD` whose call failed.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// # let call = || oxmpi::Error::new(oxmpi::ErrorClass::Tag, "tag is -3").in_call(oxmpi::Function::Send, Some(2));
    /// let error = call(); // rank 2 sends with a wrong tag
    /// assert_eq!(error.rank(), Some(2));
    /// assert_eq!(error.to_string(), "rank 2: MPI_Send: tag is -3 (MPI_ERR_TAG)");
    /// ```
    pub fn rank(&self) -> Option<usize> {
        self.0.place?.1.map(|rank| rank as usize)
    }

    /// What was wrong, in one sentence.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// # let call = || oxmpi::Error::new(oxmpi::ErrorClass::Tag, "tag is -3").in_call(oxmpi::Function::Send, Some(2));
    /// let error = call(); // rank 2 sends with a wrong tag
    /// assert_eq!(error.text(), "tag is -3");
    /// ```
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

/// As [`fmt::Display`]: what a `main` that returns the error shows.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rank) = self.rank() {
            write!(f, "rank {rank}: ")?;
        }
        if let Some(function) = self.function() {
            write!(f, "{function}: ")?;
        }
        write!(f, "{} ({})", self.text(), self.class().name())
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

    #[test]
    fn an_error_tells_of_the_innermost_call_whose_it_is() {
        const { assert!(size_of::<Result<()>>() == size_of::<usize>()) };
        let error = Error::new(ErrorClass::Tag, "tag is -3");
        assert_eq!((error.to_string().as_str(), error.function()), ("tag is -3 (MPI_ERR_TAG)", None));
        let error = error.in_call(Function::Send, Some(2)).in_call(Function::Wait, None);
        assert_eq!(error.to_string(), "rank 2: MPI_Send: tag is -3 (MPI_ERR_TAG)");
        assert_eq!((error.rank(), error.function()), (Some(2), Some("MPI_Send")));
    }
}
