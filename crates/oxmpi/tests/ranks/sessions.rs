//! Sessions, alone, several, and beside the world model. MPI-5.0: The Sessions Model.

use std::cell::Cell;
use std::sync::{Barrier, mpsc};
use std::thread;

use oxmpi::{Communicator, ErrorClass, Funneled, Group, Multiple, Op, Result, Session, ThreadLevel};

use crate::job::{RANKS, is_rank, start, text};

/// As [`on_ranks`](crate::job::on_ranks), of ranks that do not begin the world model.
fn without_world(name: &str, ranks: &[usize], body: impl FnOnce() -> Result<()>) {
    if is_rank() {
        return body().expect("the test's calls succeed");
    }
    for &ranks in ranks {
        let output = start(name, ranks);
        assert!(output.status.success(), "{ranks} ranks: {}\n{}", output.status, text(&output));
    }
}

fn all<L: ThreadLevel>(session: &Session<L>) -> Group<'_, L> {
    session.process_set("mpi://WORLD").expect("it always is there")
}

fn ranks_of<L: ThreadLevel>(comm: &Communicator<'_, L>) -> Result<usize> {
    let mut ranks = 1;
    comm.allreduce_in_place(&mut ranks, &Op::SUM)?;
    Ok(ranks)
}

#[test]
fn sessions_are_opened_again_and_again() {
    without_world("sessions::sessions_are_opened_again_and_again", &RANKS, || {
        for round in 0..3 {
            let session = Session::new()?;
            let comm = Communicator::from_group(&all(&session), &format!("round {round}"))?;
            assert_eq!(ranks_of(&comm)?, comm.size());
            let other: Session = Session::with_level()?;
            let this = Communicator::from_group(&other.process_set("MPI://self").expect("it is there"), "")?;
            assert_eq!(ranks_of(&this)?, 1);
        }
        Ok(())
    });
}

#[test]
fn ranks_without_a_session_are_not_missed() {
    without_world("sessions::ranks_without_a_session_are_not_missed", &[2, 3, 7], || {
        // Rank 0 opens one and leaves, rank 1 alone opens none.
        let rank: usize = std::env::var("OXMPI_RANK").map_or(0, |rank| rank.parse().unwrap_or(0));
        if rank == 1 {
            return Ok(());
        }
        let session = Session::new()?;
        let some = all(&session).exclude([1])?;
        let comm = Communicator::from_group(&some, "org.oxmpi.some")?;
        assert_eq!(ranks_of(&comm)?, some.size());
        Ok(())
    });
}

#[test]
fn the_world_model_begins_and_ends_while_a_session_is_open() {
    let name = "sessions::the_world_model_begins_and_ends_while_a_session_is_open";
    without_world(name, &RANKS, || {
        let session = Session::<Multiple>::with_level()?;
        let ours = Communicator::from_group(&all(&session), "ours")?;
        let env = oxmpi::init()?;
        assert_eq!(ranks_of(&env.world())?, ranks_of(&ours)?);
        drop(env);
        assert_eq!(ranks_of(&ours)?, ours.size());
        assert_eq!(oxmpi::init().expect_err("it was begun before").class(), ErrorClass::Other);
        drop(ours);
        drop(session);
        let later = Session::new()?;
        assert_eq!(ranks_of(&Communicator::from_group(&all(&later), "later")?)?, all(&later).size());
        Ok(())
    });
}

#[test]
fn threads_have_sessions_of_their_own() {
    without_world("sessions::threads_have_sessions_of_their_own", &[1, 2, 3], || {
        let both = Barrier::new(2);
        let library = |tag: &str| -> Result<usize> {
            let session = Session::new()?;
            // Both are open from here on, until both have been used.
            both.wait();
            let ranks = Communicator::from_group(&all(&session), tag).and_then(|comm| ranks_of(&comm));
            both.wait();
            ranks
        };
        thread::scope(|threads| {
            let one = threads.spawn(|| library("one"));
            let (two, one) = (library("two")?, one.join().expect("no panic")?);
            assert_eq!(one, two);
            Ok(())
        })
    });
}

#[test]
fn a_session_is_opened_while_the_local_data_of_its_thread_are_destroyed() {
    struct Last(mpsc::Sender<Result<()>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(Session::new().map(drop)).expect("it is waited for");
        }
    }
    thread_local!(static LAST: Cell<Option<Last>> = const { Cell::new(None) });
    without_world(
        "sessions::a_session_is_opened_while_the_local_data_of_its_thread_are_destroyed",
        &[1],
        || {
            let (tell, told) = mpsc::channel();
            let opened = thread::spawn(|| {
                LAST.set(Some(Last(tell)));
                // What oxmpi has of the thread is younger, and is destroyed earlier.
                Session::new().map(drop)
            });
            opened.join().expect("it does not panic")?;
            told.recv().expect("it was dropped")
        },
    );
}

/// A world of one thread has no lock: nobody else may come in.
#[test]
fn a_world_of_one_thread_shares_it_with_sessions_of_that_thread_alone() {
    let name = "sessions::a_world_of_one_thread_shares_it_with_sessions_of_that_thread_alone";
    without_world(name, &[1, 2], || {
        fn refused<L: ThreadLevel>() -> bool {
            Session::<L>::with_level().is_err_and(|error| error.class() == ErrorClass::Other)
        }
        let env = oxmpi::init()?;
        assert!(refused::<Multiple>());
        assert_eq!(thread::spawn(|| refused::<Funneled>() && refused::<Multiple>()).join().ok(), Some(true));
        let session = Session::new()?;
        let comm = Communicator::from_group(&all(&session), "of the same thread")?;
        assert_eq!(ranks_of(&comm)?, env.world().size());
        drop(comm);
        drop(session);
        drop(env);
        // There is no lock after its end, either.
        assert!(refused::<Multiple>());
        drop(Session::new()?);
        Ok(())
    });
}
