//! What happens to an error: it becomes a code, and an error handler hears of it.
//!
//! Bodies are closures, run by one of the first functions here or by those of the object that they are about; these
//! differ in what they find for the body, and in who [`Hears`] of its errors. Which kinds of objects there are is not
//! known here. The code of an error is its class, unless the program chose it.
//! MPI-5.0: MPI Environmental Management, Error Handling.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Process, end_with, processor_name};
use oxmpi_system::notice::say;

use crate::generated::constants::{MPI_COMM_NULL, MPI_SUCCESS};
use crate::last_error;
use crate::object::errhandler::{self, ErrhandlerCell, Handled, Handler};
use crate::process::{self, Call};

/// Somebody whose error handler hears of errors: an object, by its handle.
pub trait Hears {
    /// Tells the error handler about an error of `function`: the code to return, if it returns.
    fn hear(self, function: Function, error: &Error) -> c_int;
}

/// Stands for the object of errors that belong to none.
#[derive(Clone, Copy, Debug)]
pub struct NoObject;

/// Stands for the object where there are no error handlers: the tools interface only returns codes.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

/// Tells the error handler of the world model that hears of errors that belong to no object; `None` while that
/// model does not run.
pub type WorldHears = fn(Function, &Error) -> Option<c_int>;

static WORLD_HEARS: OnceLock<WorldHears> = OnceLock::new();

/// Lets the world model hear of errors that belong to no object.
pub fn let_world_hear(world: WorldHears) {
    WORLD_HEARS.get_or_init(|| world);
}

impl Hears for NoObject {
    /// Outside the world model the initial error handler hears of it.
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        let heard = WORLD_HEARS.get().and_then(|world| world(function, error));
        heard.unwrap_or_else(|| {
            call_handler(function, MPI_COMM_NULL, errhandler::initial(), error.code(), error.text())
        })
    }
}

impl Hears for Nobody {
    fn hear(self, _: Function, error: &Error) -> c_int {
        error.code()
    }
}

/// Runs the body of a function that needs the running process; errors go to the default handler.
#[inline]
pub fn in_process(function: Function, body: impl FnOnce(&'static Process) -> Result<()>) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    match body(process) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => NoObject.hear(function, &error),
    }
}

/// Runs the body of a function that may be called before initialisation and after finalization.
pub fn at_any_time(function: Function, body: impl FnOnce() -> Result<()>) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => NoObject.hear(function, &error),
    }
}

/// Runs the body of a function on an object that `find` finds, and that `who` names; errors go to its error handler.
pub fn on_found<T>(
    function: Function,
    who: impl Hears,
    find: impl FnOnce() -> Result<T>,
    body: impl FnOnce(&T) -> Result<()>,
) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    match find().and_then(|found| body(&found)) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => who.hear(function, &error),
    }
}

/// Tells the error handler of `object`, which is in `errhandler`: the code to return, if it returns.
#[cold]
pub fn tell<H: Handled>(function: Function, object: H, errhandler: &ErrhandlerCell, error: &Error) -> c_int {
    call_handler(function, object, errhandler.handler(), error.code(), error.text())
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
    let mut message = String::new();
    if let Some(process) = process {
        let _ = write!(message, "rank {} on {}: ", process.world().rank(), processor_name());
    }
    let class = ErrorClass::from_code(code).map_or("an error of the program's", ErrorClass::name);
    let _ = writeln!(message, "{}: {text} ({class})", function.name());
    let _ = write!(message, "oxmpi: the error handler is {}: the job ends", handler.name());
    say(message);
    match process {
        Some(process) => process.fail(code),
        None => end_with(code),
    }
}

const NOT_BUILT: &str = "not built in this version of oxmpi";

/// Reports that `function` has no body yet. If the error handler returns, standard error hears of it too, once: a
/// program that does not look at codes would go on with data that nobody has written.
#[cold]
pub fn unsupported(function: Function, who: impl Hears) -> c_int {
    static TOLD: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let error = Error::new(ErrorClass::UnsupportedOperation, NOT_BUILT);
    let code = who.hear(function, &error);
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(function.index()) {
        let rank = process::running().map_or(String::new(), |process| {
            format!("rank {} on {}: ", process.world().rank(), processor_name())
        });
        let (name, class) = (function.name(), error.class().name());
        say(format_args!("{rank}{name}: {NOT_BUILT}: it does nothing, and returns {class}"));
    }
    code
}

/// Ends the process because `function`, which cannot return an error, has no body yet.
#[cold]
pub fn unsupported_value(function: Function) -> ! {
    end(function, &Handler::Fatal, ErrorClass::UnsupportedOperation.code(), NOT_BUILT)
}
