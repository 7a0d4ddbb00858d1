//! Error handlers, error codes and their texts.
//!
//! A handler made by the program is kept while the program has its handle or a communicator uses it.
//! MPI-5.0: MPI Environmental Management, Error Handling; Error Codes and Classes.

use std::env;
use std::ffi::{c_char, c_int};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::error_codes;
use crate::failure::{at_any_time, call_handler, on_comm};
use crate::generated::constants::{
    MPI_ERRHANDLER_NULL, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN, MPI_MAX_ERROR_STRING,
};
use crate::generated::types::{
    MPI_Comm, MPI_Comm_errhandler_function, MPI_Errhandler, MPI_File, MPI_File_errhandler_function,
    MPI_Session, MPI_Session_errhandler_function, MPI_Win, MPI_Win_errhandler_function,
};
use crate::handle::{Sharing, Table};
use crate::last_error;
use crate::pointer::{InOut, Out, StringOut};

pub use crate::error_codes::{
    add_error_class, add_error_code, add_error_string, remove_error_class, remove_error_code,
    remove_error_string,
};

type CommCallback = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int, ...);
type FileCallback = unsafe extern "C" fn(*mut MPI_File, *mut c_int, ...);
type SessionCallback = unsafe extern "C" fn(*mut MPI_Session, *mut c_int, ...);
type WinCallback = unsafe extern "C" fn(*mut MPI_Win, *mut c_int, ...);

/// What is done about an error.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// `MPI_ERRORS_ABORT`: end the processes of the communicator.
    Abort,
    /// The program's, for communicators.
    Comm(CommCallback),
    /// `MPI_ERRORS_ARE_FATAL`: end the job.
    Fatal,
    /// The program's, for files.
    File(FileCallback),
    /// `MPI_ERRORS_RETURN`: let the call return the code.
    Return,
    /// The program's, for sessions.
    Session(SessionCallback),
    /// The program's, for windows.
    Win(WinCallback),
}

impl Handler {
    /// What the program calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Abort => "MPI_ERRORS_ABORT",
            Self::Fatal => "MPI_ERRORS_ARE_FATAL",
            Self::Return => "MPI_ERRORS_RETURN",
            Self::Comm(_) | Self::File(_) | Self::Session(_) | Self::Win(_) => "the program's own",
        }
    }
}

/// A handler of the program's.
struct Errhandler {
    handler: Handler,
    /// The program, as long as it has not freed its handle, and the objects that use the handler.
    users: AtomicUsize,
}

static ERRHANDLERS: Table<MPI_Errhandler, Arc<Errhandler>> = Table::new(Sharing::Always);

/// The environment variable in which `mpiexec` passes the initial error handler.
const INITIAL: &str = "OXMPI_INITIAL_ERRHANDLER";

/// The error handler that `mpiexec` was told to begin with.
pub fn initial_handle() -> MPI_Errhandler {
    match env::var(INITIAL).as_deref() {
        Ok("mpi_errors_abort") => MPI_ERRORS_ABORT,
        Ok("mpi_errors_return") => MPI_ERRORS_RETURN,
        _ => MPI_ERRORS_ARE_FATAL,
    }
}

/// As [`initial_handle`].
pub fn initial() -> Handler {
    handler(initial_handle())
}

/// What a handle means; a handler that is gone is fatal.
pub fn handler(handle: MPI_Errhandler) -> Handler {
    find("errhandler", handle).unwrap_or(Handler::Fatal)
}

/// The error handler of an object, which is a user of it.
pub struct ErrhandlerCell(AtomicUsize);

impl ErrhandlerCell {
    /// With a first handler.
    ///
    /// # Errors
    /// `Errhandler` if there is no such handler.
    pub fn new(errhandler: MPI_Errhandler) -> Result<Self> {
        retain(errhandler)?;
        Ok(Self(AtomicUsize::new(errhandler.0)))
    }

    /// The handler.
    pub fn get(&self) -> MPI_Errhandler {
        MPI_Errhandler(self.0.load(Ordering::Relaxed))
    }

    /// Changes the handler.
    ///
    /// # Errors
    /// `Errhandler` if there is no such handler.
    pub fn set(&self, errhandler: MPI_Errhandler) -> Result<()> {
        retain(errhandler)?;
        release(MPI_Errhandler(self.0.swap(errhandler.0, Ordering::Relaxed)));
        Ok(())
    }
}

impl Drop for ErrhandlerCell {
    fn drop(&mut self) {
        release(self.get());
    }
}

/// What a handle means.
///
/// # Errors
/// `Errhandler` if it names none.
pub fn find(argument: &str, handle: MPI_Errhandler) -> Result<Handler> {
    match handle {
        MPI_ERRORS_ABORT => Ok(Handler::Abort),
        MPI_ERRORS_ARE_FATAL => Ok(Handler::Fatal),
        MPI_ERRORS_RETURN => Ok(Handler::Return),
        _ => Ok(ERRHANDLERS.find(argument, handle)?.handler),
    }
}

/// One more user of a handler.
///
/// # Errors
/// `Errhandler` if the handle names none.
pub fn retain(handle: MPI_Errhandler) -> Result<()> {
    if is_predefined(handle) {
        return Ok(());
    }
    ERRHANDLERS.find("errhandler", handle)?.users.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// One user less; the last one takes the handler away.
pub fn release(handle: MPI_Errhandler) {
    let Some(errhandler) = ERRHANDLERS.get(handle) else { return };
    if errhandler.users.fetch_sub(1, Ordering::AcqRel) == 1 {
        ERRHANDLERS.remove(handle);
    }
}

fn is_predefined(handle: MPI_Errhandler) -> bool {
    [MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN].contains(&handle)
}

/// Makes a handle of a handler.
///
/// # Safety
/// `errhandler` is null or valid for writes.
unsafe fn create(function: Function, handler: Option<Handler>, errhandler: *mut MPI_Errhandler) -> c_int {
    at_any_time(function, || {
        let no_function = || Error::new(ErrorClass::Arg, "the error handler function is a null pointer");
        let handler = handler.ok_or_else(no_function)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("errhandler", errhandler) }?;
        out.set(ERRHANDLERS.insert(Arc::new(Errhandler { handler, users: AtomicUsize::new(1) })));
        Ok(())
    })
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
    unsafe { create(function, callback.map(Handler::Comm), errhandler) }
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
    unsafe { create(function, callback.map(Handler::File), errhandler) }
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
    unsafe { create(function, callback.map(Handler::Session), errhandler) }
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
    unsafe { create(function, callback.map(Handler::Win), errhandler) }
}

/// `MPI_Errhandler_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn errhandler_free(function: Function, errhandler: *mut MPI_Errhandler) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let errhandler = unsafe { InOut::new("errhandler", errhandler) }?;
        let handle = errhandler.get();
        find("errhandler", handle)?;
        release(handle);
        errhandler.set(MPI_ERRHANDLER_NULL);
        Ok(())
    })
}

/// `MPI_Comm_set_errhandler`.
pub fn comm_set_errhandler(function: Function, comm: MPI_Comm, errhandler: MPI_Errhandler) -> c_int {
    on_comm(function, comm, |_, comm| {
        match find("errhandler", errhandler)? {
            Handler::Abort | Handler::Comm(_) | Handler::Fatal | Handler::Return => {}
            Handler::File(_) | Handler::Session(_) | Handler::Win(_) => {
                let text = "errhandler was made for objects that are not communicators";
                return Err(Error::new(ErrorClass::Errhandler, text));
            }
        }
        comm.errhandler.set(errhandler)
    })
}

/// `MPI_Comm_get_errhandler`: the handle is one more reference, which the program frees.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_get_errhandler(
    function: Function,
    comm: MPI_Comm,
    errhandler: *mut MPI_Errhandler,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("errhandler", errhandler) }?;
        let handle = comm.errhandler.get();
        retain(handle)?;
        out.set(handle);
        Ok(())
    })
}

/// `MPI_Comm_call_errhandler`.
pub fn comm_call_errhandler(function: Function, comm: MPI_Comm, errorcode: c_int) -> c_int {
    on_comm(function, comm, |_, entry| {
        class_of(errorcode)?;
        call_handler(function, comm, entry, errorcode, "the program called the error handler");
        Ok(())
    })
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
        unsafe { StringOut::new("string", string, MPI_MAX_ERROR_STRING, resultlen) }?.set(&text);
        Ok(())
    })
}

fn class_of(code: c_int) -> Result<c_int> {
    match ErrorClass::from_code(code) {
        Some(class) => Ok(class.code()),
        None => error_codes::class_of(code).ok_or_else(|| no_such_code(code)),
    }
}

fn text_of(code: c_int) -> Result<String> {
    match ErrorClass::from_code(code) {
        Some(class) => {
            let latest = last_error::text(code).map_or(String::new(), |text| format!("; {text}"));
            Ok(format!("{}: {}{latest}", class.name(), class.description()))
        }
        None => error_codes::text_of(code).ok_or_else(|| no_such_code(code)),
    }
}

#[cold]
fn no_such_code(code: c_int) -> Error {
    Error::new(ErrorClass::Arg, format!("errorcode is {code}, which is no error code"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::MPI_COMM_WORLD;

    #[test]
    fn a_handler_lives_until_its_last_user_lets_go() {
        let mut handle =
            ERRHANDLERS.insert(Arc::new(Errhandler { handler: Handler::Return, users: AtomicUsize::new(1) }));
        let kept = handle;
        retain(kept).expect("it exists");
        // SAFETY: the handle lives on the stack.
        unsafe { errhandler_free(Function::ErrhandlerFree, &raw mut handle) };
        assert_eq!(handle, MPI_ERRHANDLER_NULL);
        find("errhandler", kept).expect("a communicator still uses it");
        release(kept);
        let error = find("errhandler", kept).expect_err("nobody uses it");
        assert_eq!(error.class(), ErrorClass::Errhandler);
    }

    #[test]
    fn only_handles_of_handlers_are_taken() {
        for word in [MPI_ERRHANDLER_NULL.0, MPI_COMM_WORLD.0, 0] {
            assert!(retain(MPI_Errhandler(word)).is_err());
        }
        for handle in [MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN] {
            retain(handle).expect("it is predefined");
        }
    }
}
