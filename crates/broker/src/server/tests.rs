use std::thread;
use std::time::Duration;

use oxmpi_base::ErrorClass;
use rustix::event::{PollFd, PollFlags};

use super::*;
use crate::wire::Spawn;
use crate::{Broker, lookup};

fn new_job() -> u64 {
    address::random().expect("random numbers").to_le_bytes()[..8]
        .try_into()
        .map(u64::from_le_bytes)
        .expect("8")
}

/// Serves until `is_over` says so of an event.
fn serve(server: &mut Server, mut act: impl FnMut(&mut Server, Event) -> bool) {
    loop {
        let (tokens, mut fds): (Vec<Token>, Vec<PollFd>) = server
            .sources()
            .map(|(token, fd, interest)| {
                let flags = match interest {
                    Interest::Read => PollFlags::IN,
                    Interest::ReadAndWrite => PollFlags::IN | PollFlags::OUT,
                };
                (token, PollFd::from_borrowed_fd(fd, flags))
            })
            .unzip();
        rustix::event::poll(&mut fds, None).expect("descriptors");
        let is_ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        for (token, _) in tokens.into_iter().zip(is_ready).filter(|(_, is_ready)| *is_ready) {
            for event in server.handle(token) {
                if act(server, event) {
                    return;
                }
            }
        }
    }
}

#[test]
fn requests_come_out_and_answers_go_back() {
    let (mut server, job) = (Server::default(), new_job());
    server.serve(job).expect("a socket");
    assert_eq!(server.serve(job).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
    let asking = thread::spawn(move || {
        let broker = Broker::of_job(job);
        let file = broker.segment().expect("an answer");
        let refused = broker.publish("name", "port").expect_err("refused");
        (rustix::fs::fstat(file).expect("a file").st_size, refused.class(), broker.abort(7).is_ok())
    });
    let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
    rustix::fs::ftruncate(&file, 77).expect("memory");
    serve(&mut server, |server, event| {
        let Event::Request { client, job: asked, request, pid } = event else { return false };
        assert_eq!((asked, pid), (job, i32::try_from(std::process::id()).expect("a process")));
        match request {
            Request::Segment => {
                server.answer(client, &Answer::Done, Some(file.try_clone().expect("a descriptor")));
            }
            Request::Publish { .. } => server.answer(client, &Answer::Failed { text: "no".to_owned() }, None),
            Request::Abort { code } => {
                assert_eq!(code, 7);
                server.answer(client, &Answer::Done, None);
                return true;
            }
            other => panic!("{other:?}"),
        }
        false
    });
    assert_eq!(asking.join().expect("no panic"), (77, ErrorClass::Service, true));
    server.dismiss(job);
    assert_eq!(Broker::of_job(job).segment().expect_err("nobody").kind(), io::ErrorKind::NotFound);
}

/// As of a launcher that somebody has stopped: what it is told it finds when it goes on.
#[test]
fn who_aborts_waits_for_no_launcher_that_does_not_look() {
    let (mut server, job) = (Server::default(), new_job());
    server.serve(job).expect("a socket");
    Broker::of_job(job).abort(7).expect("it is there");
    serve(&mut server, |_, event| {
        matches!(event, Event::Request { request: Request::Abort { code: 7 }, .. })
    });
}

#[test]
fn a_spawner_hears_the_beginning_and_the_end_and_its_going_is_told() {
    let (mut server, job) = (Server::default(), new_job());
    server.serve(job).expect("a socket");
    let asking = thread::spawn(move || {
        let mut spawning = Broker::of_job(job).spawn(&Spawn::default()).expect("it is asked");
        let begun = wait_for(|| spawning.poll()).expect("it begins");
        assert_eq!(spawning.ended().as_deref(), None);
        let mut other = Broker::of_job(job).spawn(&Spawn { rank: 1, ..Spawn::default() }).expect("asked");
        assert_eq!(wait_for(|| other.poll()).expect_err("refused").class(), ErrorClass::Spawn);
        (begun, wait_for(|| spawning.ended()))
    });
    let mut first = None;
    serve(&mut server, |server, event| match event {
        Event::Request { client, request: Request::Spawn(Spawn { rank: 0, .. }), .. } => {
            first = Some(client);
            server.answer(client, &Answer::Spawned { job: 5 }, None);
            false
        }
        Event::Request { client, .. } => {
            server.answer(client, &Answer::Failed { text: "no".to_owned() }, None);
            server.answer(first.expect("before"), &Answer::Ended { text: "over".to_owned() }, None);
            false
        }
        Event::Gone(client) => Some(client) == first,
    });
    assert_eq!(asking.join().expect("no panic"), (5, "over".to_owned()));
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        match look() {
            Some(found) => return found,
            None => thread::sleep(Duration::from_millis(1)),
        }
    }
}

#[test]
fn a_name_is_found_until_it_is_withdrawn_by_its_own_job() {
    let (mut server, job) = (Server::default(), new_job());
    let service = format!("service {job}");
    server.serve(job).expect("a socket");
    server.publish(job, service.clone(), "port".to_owned()).expect("free");
    let again = Server::default().publish(job, service.clone(), "other".to_owned()).expect_err("taken");
    assert_eq!(again.kind(), io::ErrorKind::AddrInUse);
    let (wanted, stop) = (service.clone(), Broker::of_job(job));
    let asking = thread::spawn(move || {
        let found = lookup(&wanted);
        let _ = stop.abort(0);
        found.expect("it is published")
    });
    serve(&mut server, |server, event| {
        if let Event::Request { client, .. } = event {
            server.answer(client, &Answer::Done, None);
        }
        true
    });
    assert_eq!(asking.join().expect("no panic"), "port");
    assert!(!server.unpublish(job + 1, &service) && !server.unpublish(job, "other"));
    assert!(server.unpublish(job, &service) && !server.unpublish(job, &service));
    assert_eq!(lookup(&service).expect_err("withdrawn").class(), ErrorClass::Name);
}

#[test]
fn whoever_talks_nonsense_is_not_listened_to() {
    let (mut server, job) = (Server::default(), new_job());
    server.serve(job).expect("a socket");
    let mut link = Link::over(Address::Broker(job).connect().expect("it listens"));
    link.send(b"nonsense").expect("short");
    link.flush().expect("room");
    serve(&mut server, |_, event| matches!(event, Event::Gone(_)));
    assert_eq!(link.receive().expect_err("closed").kind(), io::ErrorKind::UnexpectedEof);
}
