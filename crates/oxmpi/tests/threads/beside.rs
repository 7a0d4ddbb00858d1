//! Several ranks in one program: threads, beside the process itself, which is a rank of another job. A request or a
//! message of one is not taken for one of another, though they have the same numbers.

use oxmpi::{Communicator, ErrorClass, Multiple, Result, Session, test_some, wait_any};

/// Runs a test with this name on two ranks of one thread: that of the process, and one of a job of threads.
fn with_two_ranks<T>(name: &'static str, test: T) -> Result<()>
where
    T: Fn(Communicator<'_, Multiple>, Communicator<'_, Multiple>) -> Result<()> + Send + Sync + 'static,
{
    let session = Session::<Multiple>::with_level().expect("the process is alone, or shared by many threads");
    let session: &'static Session<Multiple> = Box::leak(Box::new(session));
    let run = oxmpi::run_with::<Multiple, _>(1, move |of_thread| {
        let this = session.process_set("mpi://SELF").expect("there always is one");
        test(Communicator::from_group(&this, name)?, of_thread)
    });
    run.map(drop)
}

/// A set that knows requests by their numbers would give the buffer back while it is received into.
#[test]
fn a_request_of_another_rank_is_in_no_set() {
    let ended = with_two_ranks("org.oxmpi.set", |of_process, of_thread| {
        let (mut theirs, mut mine) = ([0], [0]);
        of_process.scope(|others| {
            let foreign = others.recv(&mut theirs, 0, 0)?;
            of_thread.scope(|scope| {
                let _own = scope.recv(&mut mine, 0, 0)?;
                scope.request_set().insert(foreign);
                Ok(())
            })
        })
    });
    assert!(ended.expect_err("the rank cannot go on").text().contains("could not go on"));
}

#[test]
fn requests_of_several_ranks_are_not_waited_for_together() {
    let ended = with_two_ranks("org.oxmpi.wait", |of_process, of_thread| {
        let (foreign, own) = (of_process.irecv([0], 0, 0)?, of_thread.irecv([0], 0, 0)?);
        of_thread.send(&1, 0, 0)?;
        for error in [wait_any(&[&own, &foreign]).map(drop), test_some(&[&foreign, &own]).map(drop)] {
            assert_eq!(error.expect_err("they are of two ranks").class(), ErrorClass::Request);
        }
        assert_eq!(wait_any(&[&own])?, Some(0));
        of_process.send(&2, 0, 0)?;
        assert_eq!((own.wait()?.0, foreign.wait()?.0), (vec![1], vec![2]));
        Ok(())
    });
    ended.expect("all was as it should be");
}

#[test]
fn a_message_of_another_rank_is_not_received() {
    let ended = with_two_ranks("org.oxmpi.message", |of_process, of_thread| {
        of_process.send(&1, 0, 0)?;
        of_thread.send(&2, 0, 0)?;
        let (foreign, own) = (of_process.mprobe(0, 0)?, of_thread.mprobe(0, 0)?);
        let mut buf = 0;
        let refused = of_thread.scope(|scope| scope.mrecv(foreign, &mut buf)?.wait().map(drop));
        assert_eq!(refused.expect_err("it is not this rank's").class(), ErrorClass::Request);
        assert_eq!(own.recv_vec::<i32>()?, [2]);
        Ok(())
    });
    ended.expect("all was as it should be");
}
