//! Windows: their handles.
//!
//! Functions that take a window find it here. MPI-5.0: One-Sided Communications.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, Function, Result};

use super::errhandler::ErrhandlerCell;
use crate::failure::{Hears, NoObject, on_found, tell};
use crate::generated::types::MPI_Win;
use crate::handle::{Sharing, Table};

/// The error handlers of all windows.
static WINDOWS: Table<MPI_Win, Arc<ErrhandlerCell>> = Table::new(Sharing::ByThreadLevel);

/// The error handler of the window that a handle names.
///
/// # Errors
/// `Win` if it names none.
pub fn find(argument: &str, handle: MPI_Win) -> Result<Arc<ErrhandlerCell>> {
    WINDOWS.find(argument, handle)
}

impl Hears for MPI_Win {
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        match find("win", self) {
            Ok(errhandler) => tell(function, self, &errhandler, error),
            Err(_) => NoObject.hear(function, error),
        }
    }
}

/// Runs the body of a function on a window; errors go to its error handler.
pub fn on_win(function: Function, win: MPI_Win, body: impl FnOnce(&ErrhandlerCell) -> Result<()>) -> c_int {
    on_found(function, win, || find("win", win), |cell| body(cell))
}
