//! Communicators by the handles that C code has for them.
//!
//! A handle is a number that is looked up, never an address: a wrong one, or one of what is gone, is an error. So this
//! is safe Rust; what C code is called with it, and what that does, its caller answers for.
//!
//! MPI-5.0: MPI Terms and Conventions, Opaque Objects; Application Binary Interface.

use oxmpi_base::{Function, Result};
use oxmpi_cfront::shared;

use crate::communicator::Communicator;
use crate::door::Door;
use crate::environment::Environment;
use crate::session::Session;
use crate::thread::ThreadLevel;

/// ```no_run
/// use std::ffi::c_int;
///
/// use oxmpi::MPI_Comm;
///
/// unsafe extern "C" {
///     /// Of a library in C.
///     fn solve(comm: MPI_Comm, x: *mut f64, count: c_int) -> c_int;
/// }
/// ```
pub use oxmpi_cfront::generated::types::MPI_Comm;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// The handle by which C code in the program knows this communicator (feature `c`), the same each time.
    ///
    /// C code can communicate on it, attach attributes to it, and derive others from it; it must not free it. When this
    /// communicator is dropped the handle names nothing any more, and its attributes are deleted.
    ///
    /// # Errors
    /// `Comm` if this rank is a thread of [`run`](crate::run()), of which C code knows nothing.
    ///
    /// ```no_run
    /// use std::ffi::c_int;
    ///
    /// use oxmpi::MPI_Comm;
    ///
    /// unsafe extern "C" {
    ///     fn solve(comm: MPI_Comm, x: *mut f64, count: c_int) -> c_int;
    /// }
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let ours = env.world().duplicate()?;
    /// let mut x = [0.0; 100];
    /// // SAFETY: `solve` writes so many numbers, and only while it runs.
    /// let code = unsafe { solve(ours.as_raw()?, x.as_mut_ptr(), 100) };
    /// # let _ = code;
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_raw(&self) -> Result<MPI_Comm> {
        self.door.quietly(Function::CommToint, |process| shared::lend(process, &self.comm))
    }
}

impl<L: ThreadLevel> Environment<L> {
    /// The communicator that C code in the program knows by this handle (feature `c`). It stays C's: to drop what this
    /// gives does not free it, and if C frees it before, it ends when this is dropped.
    ///
    /// # Errors
    /// `Comm` if the handle names no communicator, or one between two groups.
    ///
    /// ```no_run
    /// # fn solved(env: &oxmpi::Environment, of_c: oxmpi::MPI_Comm) -> oxmpi::Result<()> {
    /// let theirs = env.borrow_raw(of_c)?; // as an argument of a function that C calls
    /// let mut norm = 1.0;
    /// theirs.allreduce_in_place(&mut norm, &oxmpi::Op::SUM)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn borrow_raw(&self, handle: MPI_Comm) -> Result<Communicator<'_, L>> {
        borrow(self.door(), handle)
    }
}

impl<L: ThreadLevel> Session<L> {
    /// As [`Environment::borrow_raw`].
    ///
    /// # Errors
    /// As [`Environment::borrow_raw`].
    ///
    /// ```no_run
    /// # fn solved(session: &oxmpi::Session, of_c: oxmpi::MPI_Comm) -> oxmpi::Result<()> {
    /// let theirs = session.borrow_raw(of_c)?; // an argument of a function of this library, which C calls
    /// theirs.barrier()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn borrow_raw(&self, handle: MPI_Comm) -> Result<Communicator<'_, L>> {
        borrow(self.door(), handle)
    }
}

fn borrow<L: ThreadLevel>(door: Door<'_, L>, handle: MPI_Comm) -> Result<Communicator<'_, L>> {
    let comm = door.quietly(Function::CommFromint, |process| shared::find(process, handle))?;
    Ok(Communicator { door, comm, wish: None, is_view: true })
}
