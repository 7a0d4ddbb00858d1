//! What happens to an error: it becomes a code, and an error handler hears of it.
//!
//! Bodies are closures, run by one of the first functions here; these differ in what they find for the body,
//! and in whose error handler they call. The code of an error is its class, unless the program chose it.
//! MPI-5.0: MPI Environmental Management, Error Handling.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Communicator, Process, end_with, processor_name};

use crate::boundary::ErrorVia;
use crate::comm::{self, Entry};
use crate::errhan::{self, ErrhandlerCell, Handled, Handler};
use crate::generated::constants::{MPI_COMM_NULL, MPI_FILE_NULL, MPI_SUCCESS};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_File, MPI_Session, MPI_Win};
use crate::last_error;
use crate::process::{self, Call};
use crate::{file, session, win};

/// Runs the body of a function on a communicator; errors go to its error handler.
#[inline]
pub fn on_comm(
    function: Function,
    comm: MPI_Comm,
    body: impl FnOnce(&'static Process, &Arc<Entry>) -> Result<()>,
) -> c_int {
    on_comm_called("comm", function, comm, body)
}

/// As [`on_comm`], where C calls the communicator `argument`.
#[inline]
pub fn on_comm_called(
    argument: &str,
    function: Function,
    comm: MPI_Comm,
    body: impl FnOnce(&'static Process, &Arc<Entry>) -> Result<()>,
) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    let _call = Call::begin(process, function);
    let entry = match comm::find(argument, comm) {
        Ok(entry) => entry,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    match body(process, &entry) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => report(function, ErrorVia::Comm(comm), &error),
    }
}

/// Runs the body of a function that needs the running process; errors go to the default handler.
#[inline]
pub fn in_process(function: Function, body: impl FnOnce(&'static Process) -> Result<()>) -> c_int {
    on_object(function, |process| body(process).map_err(Failure::from))
}

/// Runs the body of a function on an object that has a communicator, to whose handler errors go.
#[inline]
pub fn on_object(function: Function, body: impl FnOnce(&'static Process) -> Outcome<()>) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    let _call = Call::begin(process, function);
    match body(process) {
        Ok(()) => MPI_SUCCESS,
        Err(failure) => report_failure(function, &failure),
    }
}

/// Runs the body of a function on a session; errors go to its error handler.
pub fn on_session(
    function: Function,
    session: MPI_Session,
    body: impl FnOnce(&'static Process, &session::Entry) -> Result<()>,
) -> c_int {
    let found = session::find("session", session).and_then(|entry| Ok((entry, process::current()?)));
    let (entry, process) = match found {
        Ok(found) => found,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    let _call = Call::begin(process, function);
    match body(process, &entry) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => report(function, ErrorVia::Session(session), &error),
    }
}

/// Runs the body of a function that makes a communicator out of none; its errors go to the handler that the
/// communicator is to have.
pub fn by_argument(
    function: Function,
    errhandler: MPI_Errhandler,
    body: impl FnOnce(&'static Process) -> Result<()>,
) -> c_int {
    let handler = errhan::find::<MPI_Comm>("errhandler", errhandler);
    let (handler, process) = match handler.and_then(|handler| Ok((handler, process::current()?))) {
        Ok(found) => found,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    let _call = Call::begin(process, function);
    match body(process) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => call_handler(function, MPI_COMM_NULL, handler, error.code(), error.text()),
    }
}

/// Runs the body of a function on a file or the null file, which C calls `argument`; errors go to its error handler.
pub fn on_file(
    function: Function,
    (argument, file): (&str, MPI_File),
    body: impl FnOnce(&ErrhandlerCell) -> Result<()>,
) -> c_int {
    on_cell(function, ErrorVia::File(file), || file::find(argument, file), body)
}

/// Runs the body of a function on a window; errors go to its error handler.
pub fn on_win(function: Function, win: MPI_Win, body: impl FnOnce(&ErrhandlerCell) -> Result<()>) -> c_int {
    on_cell(function, ErrorVia::Win(win), || win::find("win", win), body)
}

fn on_cell(
    function: Function,
    via: ErrorVia,
    find: impl FnOnce() -> Result<Arc<ErrhandlerCell>>,
    body: impl FnOnce(&ErrhandlerCell) -> Result<()>,
) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return report(function, ErrorVia::Default, &error),
    };
    let _call = Call::begin(process, function);
    match find().and_then(|cell| body(&cell)) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => report(function, via, &error),
    }
}

/// What bodies return that know on which communicator they failed.
pub type Outcome<T> = std::result::Result<T, Failure>;

/// An error, and whose handler hears of it.
pub struct Failure {
    /// What went wrong.
    pub error: Error,
    /// The communicator that it happened on, if it is known.
    pub comm: Option<Arc<Communicator>>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, comm: None }
    }
}

/// Runs the body of a function that may be called before initialisation and after finalization.
pub fn at_any_time(function: Function, body: impl FnOnce() -> Result<()>) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => report(function, ErrorVia::Default, &error),
    }
}

/// Tells the error handler that `via` names about an error of `function`: the code to return, if it returns.
#[cold]
pub fn report(function: Function, via: ErrorVia, error: &Error) -> c_int {
    match via {
        ErrorVia::None => error.code(),
        ErrorVia::Comm(handle) => match comm::find("comm", handle) {
            Ok(entry) => tell(function, handle, &entry.errhandler, error),
            Err(_) => report_by_default(function, error),
        },
        ErrorVia::File(handle) => match file::find("file", handle) {
            Ok(errhandler) => tell(function, handle, &errhandler, error),
            Err(_) => tell(function, MPI_FILE_NULL, &file::default_errhandler(), error),
        },
        ErrorVia::Win(handle) => match win::find("win", handle) {
            Ok(errhandler) => tell(function, handle, &errhandler, error),
            Err(_) => report_by_default(function, error),
        },
        ErrorVia::Session(handle) => match session::find("session", handle) {
            Ok(entry) => tell(function, handle, &entry.errhandler, error),
            Err(_) => report_by_default(function, error),
        },
        ErrorVia::Default => report_by_default(function, error),
    }
}

#[cold]
fn report_failure(function: Function, Failure { error, comm }: &Failure) -> c_int {
    comm::clear_failed();
    if let Some(handle) = comm.as_ref().and_then(comm::handle_of) {
        return report(function, ErrorVia::Comm(handle), error);
    }
    match comm.as_ref().and_then(comm::errhandler_of_freed) {
        Some(errhandler) => tell(function, MPI_COMM_NULL, &errhandler, error),
        None => report_by_default(function, error),
    }
}

/// Tells the handler of errors that belong to no object; outside the world model, the initial one.
fn report_by_default(function: Function, error: &Error) -> c_int {
    match comm::of_no_object() {
        Some((comm, entry)) => tell(function, comm, &entry.errhandler, error),
        None => call_handler(function, MPI_COMM_NULL, errhan::initial(), error.code(), error.text()),
    }
}

fn tell<H: Handled>(function: Function, object: H, errhandler: &ErrhandlerCell, error: &Error) -> c_int {
    call_handler(function, object, errhan::handler(errhandler.get()), error.code(), error.text())
}

/// Calls an error handler of `object`: the code to return, if it returns.
#[cold]
pub fn call_handler<H: Handled>(
    function: Function,
    mut object: H,
    handler: Handler,
    code: c_int,
    text: &str,
) -> c_int {
    last_error::note(code, format!("{}: {text}", function.name()));
    let mut told = code;
    match (handler, H::callback(&handler)) {
        (Handler::Return, _) => {}
        // SAFETY: the program made an error handler of this function, and promised that it takes these.
        (_, Some(callback)) => unsafe { callback(&raw mut object, &raw mut told) },
        (handler, None) => end(function, &handler, code, text),
    }
    code
}

/// Says what went wrong and ends the job.
fn end(function: Function, handler: &Handler, code: c_int, text: &str) -> ! {
    let process = process::running();
    let mut message = String::from("oxmpi: ");
    if let Some(process) = process {
        let _ = write!(message, "rank {} on {}: ", process.world().rank(), processor_name());
    }
    let class = ErrorClass::from_code(code).map_or("an error of the program's", ErrorClass::name);
    let _ = writeln!(message, "{}: {text} ({class})", function.name());
    let _ = writeln!(message, "oxmpi: the error handler is {}: the job ends", handler.name());
    // There is nobody left to tell if this fails.
    let _ = std::io::stderr().write_all(message.as_bytes());
    match process {
        Some(process) => process.fail(code),
        None => end_with(code),
    }
}

const NOT_BUILT: &str = "not built in this version of oxmpi";

/// Reports that `function` has no body yet. If the error handler returns, standard error hears of it too, once: a
/// program that does not look at codes would go on with data that nobody has written.
#[cold]
pub fn unsupported(function: Function, via: ErrorVia) -> c_int {
    static TOLD: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let error = Error::new(ErrorClass::UnsupportedOperation, NOT_BUILT);
    let code = report(function, via, &error);
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(function.index()) {
        let rank = process::running().map_or(String::new(), |process| {
            format!("rank {} on {}: ", process.world().rank(), processor_name())
        });
        let (name, class) = (function.name(), error.class().name());
        let message = format!("oxmpi: {rank}{name}: {NOT_BUILT}: it does nothing, and returns {class}\n");
        // There is nobody left to tell if this fails.
        let _ = std::io::stderr().write_all(message.as_bytes());
    }
    code
}

/// Ends the process because `function`, which cannot return an error, has no body yet.
#[cold]
pub fn unsupported_value(function: Function) -> ! {
    end(function, &Handler::Fatal, ErrorClass::UnsupportedOperation.code(), NOT_BUILT)
}
