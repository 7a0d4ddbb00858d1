//! Error handlers as C functions have them, and what error codes mean.
//!
//! MPI-5.0: MPI Environmental Management, Error Handling; Error Codes and Classes.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::argument::{Callback, InOut, Out, TextOut, null};
use crate::error_codes;
use crate::failure::{at_any_time, call_handler};
use crate::generated::constants::MPI_ERRHANDLER_NULL;
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

pub use crate::error_codes::{
    add_error_class, add_error_code, add_error_string, remove_error_class, remove_error_code,
    remove_error_string,
};

/// Makes a handle of a handler, which C calls `argument`.
fn create(
    function: Function,
    argument: &str,
    handler: Option<Handler>,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    at_any_time(function, || {
        let handler = handler.ok_or_else(|| null(argument))?;
        errhandler.named("errhandler")?.set(errhandler::insert(handler));
        Ok(())
    })
}

/// Hands out the handler of an object: one more reference, which the program frees.
fn get(cell: &ErrhandlerCell, errhandler: Out<MPI_Errhandler>) -> Result<()> {
    errhandler.named("errhandler")?.set(cell.share());
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
    call_handler(function, object, cell.handler(), errorcode, text);
    Ok(())
}

/// `MPI_Comm_create_errhandler`.
pub fn comm_create_errhandler(
    function: Function,
    callback: Callback<MPI_Comm_errhandler_function>,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    create(function, "comm_errhandler_fn", callback.get().map(Handler::Comm), errhandler)
}

/// `MPI_File_create_errhandler`.
pub fn file_create_errhandler(
    function: Function,
    callback: Callback<MPI_File_errhandler_function>,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    create(function, "file_errhandler_fn", callback.get().map(Handler::File), errhandler)
}

/// `MPI_Session_create_errhandler`.
pub fn session_create_errhandler(
    function: Function,
    callback: Callback<MPI_Session_errhandler_function>,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    create(function, "session_errhandler_fn", callback.get().map(Handler::Session), errhandler)
}

/// `MPI_Win_create_errhandler`.
pub fn win_create_errhandler(
    function: Function,
    callback: Callback<MPI_Win_errhandler_function>,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    create(function, "win_errhandler_fn", callback.get().map(Handler::Win), errhandler)
}

/// `MPI_Errhandler_free`.
pub fn errhandler_free(function: Function, errhandler: InOut<MPI_Errhandler>) -> c_int {
    at_any_time(function, || {
        let errhandler = errhandler.named("errhandler")?;
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
pub fn comm_get_errhandler(function: Function, comm: MPI_Comm, errhandler: Out<MPI_Errhandler>) -> c_int {
    on_comm_cell(function, comm, |cell| get(cell, errhandler))
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
pub fn file_get_errhandler(function: Function, file: MPI_File, errhandler: Out<MPI_Errhandler>) -> c_int {
    on_file(function, ("file", file), |cell| get(cell, errhandler))
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
pub fn session_get_errhandler(
    function: Function,
    session: MPI_Session,
    errhandler: Out<MPI_Errhandler>,
) -> c_int {
    on_session(function, session, |_, entry| get(&entry.errhandler, errhandler))
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
pub fn win_get_errhandler(function: Function, win: MPI_Win, errhandler: Out<MPI_Errhandler>) -> c_int {
    on_win(function, win, |cell| get(cell, errhandler))
}

/// `MPI_Win_call_errhandler`.
pub fn win_call_errhandler(function: Function, win: MPI_Win, errorcode: c_int) -> c_int {
    on_win(function, win, |cell| call(function, win, cell, errorcode))
}

/// `MPI_Error_class`: a code of the standard is its own class.
pub fn error_class(function: Function, errorcode: c_int, errorclass: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let class = class_of(errorcode)?;
        errorclass.named("errorclass")?.set(class);
        Ok(())
    })
}

/// `MPI_Error_string`: what the class means, and what the latest error of it in this thread was about.
pub fn error_string(function: Function, errorcode: c_int, string: TextOut, resultlen: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let text = text_of(errorcode)?;
        string.with_length("string", resultlen)?.set_bytes(&text);
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
