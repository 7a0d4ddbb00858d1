//! Windows: their handles.
//!
//! Functions that take a window find it here. MPI-5.0: One-Sided Communications.

use std::sync::Arc;

use oxmpi_base::Result;

use crate::errhan::ErrhandlerCell;
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
