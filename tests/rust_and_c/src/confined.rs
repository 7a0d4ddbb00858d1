//! C code has begun to use MPI, and has said that the program has one thread: that one is let in, and no other.

use std::ffi::c_int;
use std::thread;

use oxmpi::{Communicator, ErrorClass, Multiple, Op, Result, Session};

unsafe extern "C" {
    fn c_open_single() -> c_int;
    fn c_close_single() -> c_int;
}

/// What begins in Rust where there is no lock; the number of ranks.
pub fn to_this_thread() -> Result<Option<usize>> {
    // SAFETY: the call takes nothing.
    assert_eq!(unsafe { c_open_single() }, 0);
    let session = Session::new()?;
    let begin = || {
        let tried =
            [oxmpi::init().map(drop), oxmpi::init_with::<Multiple>().map(drop), Session::new().map(drop)];
        tried.map(|begun| begun.map_err(|error| error.class()))
    };
    assert_eq!(thread::spawn(begin).join().ok(), Some([Err(ErrorClass::Other); 3]));
    assert_eq!(oxmpi::init_with::<Multiple>().expect_err("it is for all threads").class(), ErrorClass::Other);
    let env = oxmpi::init()?;
    let world = env.world();
    let all = session.process_set("mpi://WORLD").expect("it always is there");
    let ours = Communicator::from_group(&all, "of this thread")?;
    let mut ranks = 1;
    ours.allreduce_in_place(&mut ranks, &Op::SUM)?;
    assert_eq!(ranks, world.size());
    let shown = (world.rank() == 0).then_some(ranks);
    drop((world, ours));
    drop(env);
    drop(session);
    // SAFETY: the call takes nothing.
    assert_eq!(unsafe { c_close_single() }, 0);
    Ok(shown)
}
