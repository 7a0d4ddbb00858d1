//! Handles go from Rust to C and back: each communicates on the communicators of the other.

use std::ffi::c_int;
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi::{Communicator, Environment, ErrorClass, MPI_Comm, Op, Result, Session};

unsafe extern "C" {
    fn c_sum_on(comm: MPI_Comm, mine: *const f64, sum: *mut f64, count: c_int) -> c_int;
    fn c_attach(comm: MPI_Comm) -> c_int;
    fn c_deleted() -> c_int;
    fn c_detach(comm: MPI_Comm) -> c_int;
    fn c_halves(comm: MPI_Comm, half: *mut MPI_Comm) -> c_int;
    fn c_free(comm: *mut MPI_Comm) -> c_int;
}

/// How many have been dropped.
static GUESTS_LEFT: AtomicUsize = AtomicUsize::new(0);

/// An attribute that uses MPI when it is dropped.
struct Guest;

impl Drop for Guest {
    fn drop(&mut self) {
        drop(Session::new().expect("others are open"));
        GUESTS_LEFT.fetch_add(1, Ordering::Relaxed);
    }
}

/// On a communicator of a session, whether or not there is a world: it, and the handle of one that is no more.
pub fn go_out_and_in(session: &Session) -> Result<(Communicator<'_>, MPI_Comm)> {
    let all = session.process_set("mpi://WORLD").expect("it always is there");
    let kept = Communicator::from_group(&all, "of Rust")?;
    let handle = kept.as_raw()?;
    assert_eq!(handle, kept.as_raw()?);
    assert_eq!(sum_by_c(handle, 1.0), kept.size() as f64);
    let room = kept.buffered(1000)?;
    // SAFETY: the call takes a handle.
    assert_eq!(unsafe { c_detach(handle) }, 0);
    drop(room); // that C has taken it back is no defect

    let other = kept.duplicate()?;
    let dropped = other.as_raw()?;
    assert_ne!(handle, dropped);
    // SAFETY: the call takes a handle.
    assert_eq!(unsafe { c_attach(dropped) }, 0);
    drop(other);
    // SAFETY: the call takes nothing.
    assert_eq!(unsafe { c_deleted() }, 1);
    assert_eq!(session.borrow_raw(dropped).expect_err("it is no more").class(), ErrorClass::Comm);

    let (half, mut of_c) = halved(handle, |half| session.borrow_raw(half))?;
    assert_eq!((half.size(), half.rank()), ((kept.size() + 1 - kept.rank() % 2) / 2, kept.rank() / 2));
    let mut ranks = 1;
    half.allreduce_in_place(&mut ranks, &Op::SUM)?;
    assert_eq!(ranks, half.size());
    assert!(half.set_attribute(Guest).is_none());
    // It stays while it is borrowed, though C has freed it, but what is kept with it goes.
    // SAFETY: the handle is one that C has made.
    assert_eq!(unsafe { c_free(&raw mut of_c) }, 0);
    assert_eq!(GUESTS_LEFT.swap(0, Ordering::Relaxed), 1);
    assert!(half.set_attribute(Guest).is_some(), "it comes back, and is dropped here");
    assert_eq!(GUESTS_LEFT.load(Ordering::Relaxed), 1);
    half.allreduce_in_place(&mut ranks, &Op::SUM)?;
    assert_eq!(ranks, half.size() * half.size());
    Ok((kept, dropped))
}

/// What C knows by handles while the world is there.
pub fn are_of_the_world(env: &Environment) -> Result<()> {
    let world = env.world();
    assert_eq!(sum_by_c(world.as_raw()?, 2.0), 2.0 * world.size() as f64);
    let again = env.borrow_raw(world.as_raw()?)?;
    assert_eq!(again.name(), "MPI_COMM_WORLD");
    drop(again);
    world.barrier()?;
    let grid = world.cartesian(&[world.size()], &[true])?.expect("every rank has a place");
    assert_eq!(sum_by_c(grid.as_raw()?, 1.0), world.size() as f64);
    let (half, mut of_c) = halved(grid.as_raw()?, |half| env.borrow_raw(half))?;
    drop(half);
    // SAFETY: the handle is one that C has made.
    assert_eq!(unsafe { c_free(&raw mut of_c) }, 0);
    assert_eq!(env.borrow_raw(of_c).expect_err("it is MPI_COMM_NULL").class(), ErrorClass::Comm);
    // Of ranks that are threads C knows nothing.
    let refused = oxmpi::run(2, |world| Ok(world.duplicate()?.as_raw().map_err(|error| error.class())))?;
    assert_eq!(refused, [Err(ErrorClass::Comm); 2]);
    Ok(())
}

/// After the end of the world.
pub fn name_what_is_there(kept: &Communicator<'_>, dropped: MPI_Comm) -> Result<()> {
    assert_ne!(kept.as_raw()?, dropped);
    assert_eq!(sum_by_c(kept.as_raw()?, 3.0), 3.0 * kept.size() as f64);
    kept.barrier()
}

fn sum_by_c(comm: MPI_Comm, mine: f64) -> f64 {
    let mut sum = 0.0;
    // SAFETY: there is one number at either address.
    assert_eq!(unsafe { c_sum_on(comm, &raw const mine, &raw mut sum, 1) }, 0);
    sum
}

/// What C makes of every other rank, in Rust and in C.
fn halved<'a>(
    comm: MPI_Comm,
    borrow: impl FnOnce(MPI_Comm) -> Result<Communicator<'a>>,
) -> Result<(Communicator<'a>, MPI_Comm)> {
    let mut half = comm;
    // SAFETY: the handle is valid for the call, which writes another.
    assert_eq!(unsafe { c_halves(comm, &raw mut half) }, 0);
    Ok((borrow(half)?, half))
}
