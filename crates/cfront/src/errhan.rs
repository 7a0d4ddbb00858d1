//! Error handlers as C functions have them, and what error codes mean.
//!
//! MPI-5.0: MPI Environmental Management, Error Handling; Error Codes and Classes.

use std::ffi::{c_char, c_int};

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::error_codes;
use crate::failure::{at_any_time, call_handler};
use crate::generated::constants::{MPI_ERRHANDLER_NULL, MPI_MAX_ERROR_STRING};
use crate::generated::types::{
    MPI_Comm, MPI_Comm_errhandler_function, MPI_Errhandler, MPI_File, MPI_File_errhandler_function,
    MPI_Session, MPI_Session_errhandler_function, MPI_Win, MPI_Win_errhandler_function,
};
use crate::last_error;
use crate::object::comm::on_comm;
use crate::object::comm::reserved::announced_errhandler;
use crate::object::errhandler::{self, ErrhandlerCell, Handled, Handler, find};
use crate::object::file::on_file;
use crate::object::session::on_session;
use crate::object::win::on_win;
use crate::pointer::{InOut, Out, StringOut, null};

pub use crate::error_codes::{
    add_error_class, add_error_code, add_error_string, remove_error_class, remove_error_code,
    remove_error_string,
};

/// Makes a handle of a handler, which C calls `argument`.
///
/// # Safety
/// `errhandler` is null or valid for writes.
unsafe fn create(
    function: Function,
    argument: &str,
    handler: Option<Handler>,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    at_any_time(function, || {
        let handler = handler.ok_or_else(|| null(argument))?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("errhandler", errhandler) }?.set(errhandler::insert(handler));
        Ok(())
    })
}

/// Hands out the handler of an object: one more reference, which the program frees.
///
/// # Safety
/// `errhandler` is null or valid for writes.
unsafe fn get(cell: &ErrhandlerCell, errhandler: *mut MPI_Errhandler) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { Out::new("errhandler", errhandler) }?.set(cell.share());
    Ok(())
}

fn set<H: Handled>(cell: &ErrhandlerCell, errhandler: MPI_Errhandler) -> Result<()> {
    find::<H>("errhandler", errhandler)?;
    cell.set(errhandler);
    Ok(())
}

/// Calls the handler of `object` because the program says so.
fn call<H: Handled>(function: Function, object: H, cell: &ErrhandlerCell, errorcode: c_int) -> Result<()> {
    class_of(errorcode)?;
    let text = "the program called the error handler";
    call_handler(function, object, errhandler::handler(cell.get()), errorcode, text);
    Ok(())
}

/// `MPI_Comm_create_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_create_errhandler(
    function: Function,
    callback: MPI_Comm_errhandler_function,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, "comm_errhandler_fn", callback.map(Handler::Comm), errhandler) }
}

/// `MPI_File_create_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn file_create_errhandler(
    function: Function,
    callback: MPI_File_errhandler_function,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, "file_errhandler_fn", callback.map(Handler::File), errhandler) }
}

/// `MPI_Session_create_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn session_create_errhandler(
    function: Function,
    callback: MPI_Session_errhandler_function,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, "session_errhandler_fn", callback.map(Handler::Session), errhandler) }
}

/// `MPI_Win_create_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn win_create_errhandler(
    function: Function,
    callback: MPI_Win_errhandler_function,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { create(function, "win_errhandler_fn", callback.map(Handler::Win), errhandler) }
}

/// `MPI_Errhandler_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn errhandler_free(function: Function, errhandler: *mut MPI_Errhandler) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let errhandler = unsafe { InOut::new("errhandler", errhandler) }?;
        errhandler::free(errhandler.get())?;
        errhandler.set(MPI_ERRHANDLER_NULL);
        Ok(())
    })
}

/// `MPI_Comm_set_errhandler`.
pub fn comm_set_errhandler(function: Function, comm: MPI_Comm, errhandler: MPI_Errhandler) -> c_int {
    on_comm_cell(function, comm, |cell| set::<MPI_Comm>(cell, errhandler))
}

/// `MPI_Comm_get_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_get_errhandler(
    function: Function,
    comm: MPI_Comm,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    on_comm_cell(function, comm, |cell| unsafe { get(cell, errhandler) })
}

/// Runs the body of a function of the error handler of a communicator, which need not be made yet.
fn on_comm_cell(
    function: Function,
    comm: MPI_Comm,
    body: impl FnOnce(&ErrhandlerCell) -> Result<()>,
) -> c_int {
    match announced_errhandler(comm) {
        Some(cell) => at_any_time(function, || body(&cell)),
        None => on_comm(function, comm, |_, entry| body(&entry.errhandler)),
    }
}

/// `MPI_Comm_call_errhandler`.
pub fn comm_call_errhandler(function: Function, comm: MPI_Comm, errorcode: c_int) -> c_int {
    on_comm(function, comm, |_, entry| call(function, comm, &entry.errhandler, errorcode))
}

/// `MPI_File_set_errhandler`: of `MPI_FILE_NULL`, the handler that files have at first.
pub fn file_set_errhandler(function: Function, file: MPI_File, errhandler: MPI_Errhandler) -> c_int {
    on_file(function, ("file", file), |cell| set::<MPI_File>(cell, errhandler))
}

/// `MPI_File_get_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn file_get_errhandler(
    function: Function,
    file: MPI_File,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    on_file(function, ("file", file), |cell| unsafe { get(cell, errhandler) })
}

/// `MPI_File_call_errhandler`.
pub fn file_call_errhandler(function: Function, file: MPI_File, errorcode: c_int) -> c_int {
    on_file(function, ("fh", file), |cell| call(function, file, cell, errorcode))
}

/// `MPI_Session_set_errhandler`.
pub fn session_set_errhandler(function: Function, session: MPI_Session, errhandler: MPI_Errhandler) -> c_int {
    on_session(function, session, |_, entry| set::<MPI_Session>(&entry.errhandler, errhandler))
}

/// `MPI_Session_get_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn session_get_errhandler(
    function: Function,
    session: MPI_Session,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    // SAFETY: the caller's promise.
    on_session(function, session, |_, entry| unsafe { get(&entry.errhandler, errhandler) })
}

/// `MPI_Session_call_errhandler`.
pub fn session_call_errhandler(function: Function, session: MPI_Session, errorcode: c_int) -> c_int {
    on_session(function, session, |_, entry| call(function, session, &entry.errhandler, errorcode))
}

/// `MPI_Win_set_errhandler`.
pub fn win_set_errhandler(function: Function, win: MPI_Win, errhandler: MPI_Errhandler) -> c_int {
    on_win(function, win, |cell| set::<MPI_Win>(cell, errhandler))
}

/// `MPI_Win_get_errhandler`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn win_get_errhandler(function: Function, win: MPI_Win, errhandler: *mut MPI_Errhandler) -> c_int {
    // SAFETY: the caller's promise.
    on_win(function, win, |cell| unsafe { get(cell, errhandler) })
}

/// `MPI_Win_call_errhandler`.
pub fn win_call_errhandler(function: Function, win: MPI_Win, errorcode: c_int) -> c_int {
    on_win(function, win, |cell| call(function, win, cell, errorcode))
}

/// `MPI_Error_class`: a code of the standard is its own class.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn error_class(function: Function, errorcode: c_int, errorclass: *mut c_int) -> c_int {
    at_any_time(function, || {
        let class = class_of(errorcode)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("errorclass", errorclass) }?.set(class);
        Ok(())
    })
}

/// `MPI_Error_string`: what the class means, and what the latest error of it in this thread was about.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn error_string(
    function: Function,
    errorcode: c_int,
    string: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    at_any_time(function, || {
        let text = text_of(errorcode)?;
        // SAFETY: the caller's promise.
        unsafe { StringOut::new("string", string, MPI_MAX_ERROR_STRING, resultlen) }?.set_bytes(&text);
        Ok(())
    })
}

fn class_of(code: c_int) -> Result<c_int> {
    match ErrorClass::from_code(code) {
        Some(class) => Ok(class.code()),
        None => error_codes::class_of(code).ok_or_else(|| no_such_code(code)),
    }
}

fn text_of(code: c_int) -> Result<Vec<u8>> {
    match ErrorClass::from_code(code) {
        Some(class) => {
            let latest = last_error::text(code).map_or(String::new(), |text| format!("; {text}"));
            Ok(format!("{}: {}{latest}", class.name(), class.description()).into_bytes())
        }
        None => error_codes::text_of(code).ok_or_else(|| no_such_code(code)),
    }
}

#[cold]
fn no_such_code(code: c_int) -> Error {
    Error::new(ErrorClass::Arg, format!("errorcode is {code}, which is no error code"))
}
