//! What is done about errors: the predefined error handlers, and those that the program makes.
//!
//! A handler of the program's is kept while the program has a reference to it or an object uses it.
//! MPI-5.0: MPI Environmental Management, Error Handling.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{env, mem};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::generated::constants::{MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_File, MPI_Session, MPI_Win};
use crate::handle::{Handle, Sharing, Table, bad_handle};

/// A function of the program's that hears of errors on objects that handles of type `H` name.
pub type Callback<H> = unsafe extern "C" fn(*mut H, *mut c_int, ...);

/// What is done about an error.
#[derive(Clone, Copy, Debug)]
pub enum Handler {
    /// `MPI_ERRORS_ABORT`: as `MPI_Abort` does, which ends the job, since no job outlives a rank that fails.
    Abort,
    /// The program's, for communicators.
    Comm(Callback<MPI_Comm>),
    /// `MPI_ERRORS_ARE_FATAL`: end the job.
    Fatal,
    /// The program's, for files.
    File(Callback<MPI_File>),
    /// `MPI_ERRORS_RETURN`: let the call return the code.
    Return,
    /// The program's, for sessions.
    Session(Callback<MPI_Session>),
    /// The program's, for windows.
    Win(Callback<MPI_Win>),
}

/// A C type of the objects that have error handlers.
pub trait Handled: Handle {
    /// The program's function in `handler`, if it is one for these objects.
    fn callback(handler: &Handler) -> Option<Callback<Self>>;
}

macro_rules! handled {
    ($($object:ident $variant:ident;)*) => {$(
        impl Handled for $object {
            fn callback(handler: &Handler) -> Option<Callback<Self>> {
                match handler {
                    Handler::$variant(callback) => Some(*callback),
                    _ => None,
                }
            }
        }
    )*};
}

handled! {
    MPI_Comm Comm;
    MPI_File File;
    MPI_Session Session;
    MPI_Win Win;
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
    users: Mutex<Users>,
}

/// Who needs a handler.
#[derive(Clone, Copy)]
struct Users {
    /// References that the program has to free.
    references: usize,
    objects: usize,
}

static ERRHANDLERS: Table<MPI_Errhandler, Arc<Errhandler>> = Table::new(Sharing::Always);

/// The environment variable in which `mpiexec` passes the initial error handler.
pub const INITIAL: &str = "OXMPI_INITIAL_ERRHANDLER";
/// What info objects call it.
pub const INITIAL_KEY: &str = "mpi_initial_errhandler";

/// The error handler that `mpiexec`, or who has spawned this process, was told to begin with, in whatever case.
pub fn initial_handle() -> MPI_Errhandler {
    match env::var(INITIAL).map(|name| name.trim().to_ascii_lowercase()).as_deref() {
        Ok("mpi_errors_abort") => MPI_ERRORS_ABORT,
        Ok("mpi_errors_return") => MPI_ERRORS_RETURN,
        _ => MPI_ERRORS_ARE_FATAL,
    }
}

/// As [`initial_handle`].
pub fn initial() -> Handler {
    handler(initial_handle())
}

/// The environment variable that says whose handler hears of errors that belong to no object.
const WHOSE: &str = "OXMPI_ERRORS_TO";

/// Whether that of `MPI_COMM_WORLD` may, where the program has set no other.
///
/// # Errors
/// `Arg` if the environment says what means nothing.
pub fn world_may_hear() -> Result<bool> {
    match env::var_os(WHOSE) {
        None => Ok(true),
        Some(whose) if whose == "self" => Ok(false),
        Some(whose) => {
            let text = format!("the environment variable {WHOSE} is \"{}\", not \"self\"", whose.display());
            Err(Error::new(ErrorClass::Arg, text))
        }
    }
}

/// What a handle that an object has means; a handler that is gone is fatal.
fn handler(handle: MPI_Errhandler) -> Handler {
    predefined(handle).or_else(|| Some(ERRHANDLERS.get(handle)?.handler)).unwrap_or(Handler::Fatal)
}

/// What a handle that the program passes means, for an object of type `H`.
///
/// # Errors
/// `Errhandler` if it names none, was freed, or is for other objects.
pub fn find<H: Handled>(argument: &str, handle: MPI_Errhandler) -> Result<Handler> {
    if let Some(handler) = predefined(handle) {
        return Ok(handler);
    }
    let found = ERRHANDLERS.find(argument, handle)?;
    if found.users().references == 0 {
        return Err(bad_handle(argument, handle));
    }
    if H::callback(&found.handler).is_none() {
        let (word, own) = (handle.word(), H::TYPE_NAME);
        let text = format!("{argument} is {word:#x}, which was made for other objects than an {own}");
        return Err(Error::new(ErrorClass::Errhandler, text));
    }
    Ok(found.handler)
}

/// A handle of a new handler, to which the program has a reference.
pub fn insert(handler: Handler) -> MPI_Errhandler {
    let users = Mutex::new(Users { references: 1, objects: 0 });
    ERRHANDLERS.insert(Arc::new(Errhandler { handler, users }))
}

/// Takes one of the program's references to a handler away.
///
/// # Errors
/// `Errhandler` if it has none.
pub fn free(handle: MPI_Errhandler) -> Result<()> {
    if predefined(handle).is_some() {
        return Ok(());
    }
    if ERRHANDLERS.find("errhandler", handle)?.users().references == 0 {
        return Err(bad_handle("errhandler", handle));
    }
    change_users(handle, |users| users.references -= 1);
    Ok(())
}

/// The error handler of an object. Whoever asks for it and whoever changes it come in turn: so it is there as long as
/// somebody looks at it.
pub struct ErrhandlerCell(Mutex<Held>);

struct Held {
    handle: MPI_Errhandler,
    was_set: bool,
}

impl ErrhandlerCell {
    /// With a first handler.
    pub fn new(errhandler: MPI_Errhandler) -> Self {
        change_users(errhandler, |users| users.objects += 1);
        Self(Mutex::new(Held { handle: errhandler, was_set: false }))
    }

    /// That of an object that begins with the handler of this one.
    pub fn inherited(&self) -> Self {
        Self::new(self.held().handle)
    }

    /// Whether the program has set it, be it to what it was.
    pub fn was_set(&self) -> bool {
        self.held().was_set
    }

    /// What is done about errors.
    pub fn handler(&self) -> Handler {
        handler(self.held().handle)
    }

    /// Changes the handler.
    pub fn set(&self, errhandler: MPI_Errhandler) {
        change_users(errhandler, |users| users.objects += 1);
        let old = mem::replace(&mut *self.held(), Held { handle: errhandler, was_set: true });
        change_users(old.handle, |users| users.objects -= 1);
    }

    /// The handler, to which the program gets one more reference.
    pub fn share(&self) -> MPI_Errhandler {
        let held = self.held();
        change_users(held.handle, |users| users.references += 1);
        held.handle
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ErrhandlerCell {
    fn drop(&mut self) {
        change_users(self.held().handle, |users| users.objects -= 1);
    }
}

impl Errhandler {
    fn users(&self) -> Users {
        *self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn predefined(handle: MPI_Errhandler) -> Option<Handler> {
    match handle {
        MPI_ERRORS_ABORT => Some(Handler::Abort),
        MPI_ERRORS_ARE_FATAL => Some(Handler::Fatal),
        MPI_ERRORS_RETURN => Some(Handler::Return),
        _ => None,
    }
}

/// Counts the users of a handler of the program's, and takes it away when there are none.
fn change_users(handle: MPI_Errhandler, change: impl FnOnce(&mut Users)) {
    let Some(errhandler) = ERRHANDLERS.get(handle) else { return };
    let mut users = errhandler.users.lock().unwrap_or_else(PoisonError::into_inner);
    change(&mut users);
    if users.references == 0 && users.objects == 0 {
        ERRHANDLERS.remove(handle);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::generated::constants::{MPI_COMM_WORLD, MPI_ERRHANDLER_NULL};

    /// A handler for communicators; its function is not called.
    fn own() -> MPI_Errhandler {
        type Ignoring = unsafe extern "C" fn(*mut MPI_Comm, *mut c_int);
        unsafe extern "C" fn ignore(_: *mut MPI_Comm, _: *mut c_int) {}
        // SAFETY: both are addresses of functions.
        insert(Handler::Comm(unsafe { mem::transmute::<Ignoring, Callback<MPI_Comm>>(ignore) }))
    }

    #[test]
    fn a_handler_lives_until_its_last_user_lets_go() {
        let handle = own();
        let cell = ErrhandlerCell::new(handle);
        free(handle).expect("the program has a reference");
        assert_eq!(free(handle).expect_err("it has none left").class(), ErrorClass::Errhandler);
        find::<MPI_Comm>("errhandler", handle).expect_err("the program may not use it");
        assert!(matches!(handler(handle), Handler::Comm(_)), "an object still uses it");
        assert_eq!(cell.share(), handle);
        cell.set(MPI_ERRORS_RETURN);
        find::<MPI_Comm>("errhandler", handle).expect("the program got a new reference");
        free(handle).expect("the program has a reference");
        assert!(ERRHANDLERS.get(handle).is_none(), "nobody uses it");
    }

    #[test]
    fn a_handler_is_there_while_another_thread_changes_it() {
        const ROUNDS: u32 = 20_000;
        let cell = ErrhandlerCell::new(MPI_ERRORS_RETURN);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    let handle = own();
                    cell.set(handle);
                    free(handle).expect("the program has a reference");
                }
            });
            for _ in 0..ROUNDS {
                assert!(!matches!(cell.handler(), Handler::Fatal));
                assert!(!matches!(cell.inherited().handler(), Handler::Fatal));
                let shared = cell.share();
                find::<MPI_Comm>("errhandler", shared).expect("the program has a reference");
                free(shared).expect("the same");
            }
        });
    }

    #[test]
    fn a_handler_serves_one_kind_of_objects() {
        let handle = own();
        assert!(matches!(find::<MPI_Comm>("errhandler", handle), Ok(Handler::Comm(_))));
        let error = find::<MPI_Win>("errhandler", handle).expect_err("it is for communicators");
        assert_eq!(error.class(), ErrorClass::Errhandler);
        for handle in [MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN] {
            find::<MPI_Win>("errhandler", handle).expect("it is for all");
        }
        for word in [MPI_ERRHANDLER_NULL.0, MPI_COMM_WORLD.0, 0] {
            find::<MPI_Comm>("errhandler", MPI_Errhandler(word)).expect_err("it is no handler");
        }
    }
}
