//! The error classes of the standard, with the values of the standard ABI.
//!
//! MPI-5.0: MPI Environmental Management, Error Codes and Classes.

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
pub enum ErrorClass {
    $VARIANTS
}

impl ErrorClass {
    /// The class whose value is `code`.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::ErrorClass;
    ///
    /// assert_eq!(ErrorClass::from_code(ErrorClass::Root.code()), Some(ErrorClass::Root));
    /// assert_eq!(ErrorClass::from_code(-1), None);
    /// ```
    pub const fn from_code(code: i32) -> Option<Self> {
        Some(match code {
            $CODES
            _ => return None,
        })
    }

    /// The value in the standard ABI.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::ErrorClass::Success.code(), 0);
    /// ```
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The name of the constant in C.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::ErrorClass::Truncate.name(), "MPI_ERR_TRUNCATE");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            $NAMES
        }
    }

    /// When this class is given, in a few words.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// assert_eq!(oxmpi::ErrorClass::Truncate.description(), "message longer than the receive buffer");
    /// ```
    pub const fn description(self) -> &'static str {
        match self {
            $DESCRIPTIONS
        }
    }
}
