//! Files: their handles, and the null file, whose error handler files have when they are opened.
//!
//! MPI-5.0: I/O, I/O Error Handling.

use std::ffi::c_int;
use std::sync::{Arc, OnceLock};

use oxmpi_base::{Error, Function, Result};

use super::errhandler::ErrhandlerCell;
use crate::failure::{Hears, on_found, tell};
use crate::generated::constants::{MPI_ERRORS_RETURN, MPI_FILE_NULL};
use crate::generated::types::MPI_File;
use crate::handle::{Sharing, Table};

/// The error handlers of all files.
static FILES: Table<MPI_File, Arc<ErrhandlerCell>> = Table::new(Sharing::ByThreadLevel);

/// The error handler of the null file.
fn default_errhandler() -> Arc<ErrhandlerCell> {
    static DEFAULT: OnceLock<Arc<ErrhandlerCell>> = OnceLock::new();
    Arc::clone(DEFAULT.get_or_init(|| Arc::new(ErrhandlerCell::new(MPI_ERRORS_RETURN))))
}

/// The error handler of the file that a handle names, or of the null file.
///
/// # Errors
/// `File` if it names none.
pub fn find(argument: &str, handle: MPI_File) -> Result<Arc<ErrhandlerCell>> {
    if handle == MPI_FILE_NULL { Ok(default_errhandler()) } else { FILES.find(argument, handle) }
}

impl Hears for MPI_File {
    /// The null file stands for what is no file.
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        match find("file", self) {
            Ok(errhandler) => tell(function, self, &errhandler, error),
            Err(_) => tell(function, MPI_FILE_NULL, &default_errhandler(), error),
        }
    }
}

/// Runs the body of a function on a file or the null file, which C calls `argument`; errors go to its error handler.
pub fn on_file(
    function: Function,
    (argument, file): (&str, MPI_File),
    body: impl FnOnce(&ErrhandlerCell) -> Result<()>,
) -> c_int {
    on_found(function, file, || find(argument, file), |cell| body(cell))
}
