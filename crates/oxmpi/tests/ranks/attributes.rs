//! What becomes of attributes when their communicator is dropped. MPI-5.0: Caching, Attribute Caching Functions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi::{Communicator, Op, Result, Session};

use crate::job::on_ranks;

/// A library's own, which uses MPI when it is dropped, and counts that.
struct Private(Arc<AtomicUsize>);

impl Drop for Private {
    fn drop(&mut self) {
        self.0.fetch_add(ranks_alone().expect("this rank is there"), Ordering::Relaxed);
    }
}

fn ranks_alone() -> Result<usize> {
    let session = Session::new()?;
    let comm = Communicator::from_group(&session.process_set("mpi://SELF").expect("it is there"), "")?;
    let mut ranks = 1;
    comm.allreduce_in_place(&mut ranks, &Op::SUM)?;
    Ok(ranks)
}

#[test]
fn an_attribute_may_call_when_the_last_that_has_it_is_dropped() {
    on_ranks("attributes::an_attribute_may_call_when_the_last_that_has_it_is_dropped", |env| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let comm = env.world().duplicate()?;
        comm.set_attribute(Private(Arc::clone(&dropped)));
        let copy = comm.duplicate()?;
        drop(comm);
        assert_eq!(dropped.load(Ordering::Relaxed), 0, "the duplicate has it");
        drop(copy);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        Ok(())
    });
}

#[test]
fn a_panic_of_an_attribute_is_one_of_the_program() {
    struct Fails;
    impl Drop for Fails {
        fn drop(&mut self) {
            panic!("as a test");
        }
    }
    on_ranks("attributes::a_panic_of_an_attribute_is_one_of_the_program", |env| {
        let comm = env.world().duplicate()?;
        comm.set_attribute(Fails);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(comm))).is_err());
        env.world().barrier()
    });
}
