//! Files: their handles, and the null file, whose error handler files have when they are opened.
//!
//! MPI-5.0: I/O, I/O Error Handling.

use std::sync::{Arc, OnceLock};

use oxmpi_base::Result;

use crate::errhan::ErrhandlerCell;
use crate::generated::constants::{MPI_ERRORS_RETURN, MPI_FILE_NULL};
use crate::generated::types::MPI_File;
use crate::handle::{Sharing, Table};

/// The error handlers of all files.
static FILES: Table<MPI_File, Arc<ErrhandlerCell>> = Table::new(Sharing::ByThreadLevel);

/// The error handler of the null file.
pub fn default_errhandler() -> Arc<ErrhandlerCell> {
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
