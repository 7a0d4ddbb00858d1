//! That libfabric keeps what a fabric promises, over the networks that are found here.
//!
//! Where libfabric is not installed, or finds no network, the tests say so loudly and are skipped.

use std::env;
use std::io::{self, Write as _};
use std::process::Command;
use std::time::{Duration, Instant};

use oxmpi_fabric::conformance::{self, Patience, Piece, What, World};
use oxmpi_fabric::{Completion, Fabric, Of, Order, Target};
use oxmpi_libfabric::Libfabric;

/// An endpoint that accepts nothing for so many turns never will.
const PATIENCE: Patience = Patience { most: 20_000_000, rest: 300 };
/// Whoever takes that for death is wrong.
const SILENCE: Duration = Duration::from_millis(600);
/// The networks that are tried, where they are found.
const NAMES: [&str; 3] = ["tcp/lo", "net/lo", THREADED];
/// It has a thread, which answers for a program that calls nothing; and no endpoint of this kind on loopback alone.
const THREADED: &str = "sockets";

/// Runs a test over each network that is there.
fn over_each(ends: usize, test: impl Fn(&str, World<Libfabric>)) {
    let mut any = false;
    for name in NAMES {
        match (0..ends).map(|_| Libfabric::open_named(name)).collect::<Result<Vec<_>, _>>() {
            Ok(ends) => test(name, World::new(ends, PATIENCE)),
            Err(error) => {
                loudly(&format!("{name}: {error}"));
                continue;
            }
        }
        any = true;
    }
    if !any {
        loudly("NO NETWORK OF LIBFABRIC'S WAS TRIED");
    }
}

/// Not by a macro, whose output the test harness would keep.
fn loudly(text: &str) {
    drop(writeln!(io::stderr(), "libfabric: skipped: {text}"));
}

#[test]
fn messages_arrive_once_and_whole() {
    let length = |number: usize| 1 + number * 37 % (conformance::MESSAGE_BYTES - 1);
    let lengths: Vec<usize> = (0..40).map(length).collect();
    for is_late in [false, true] {
        over_each(3, |_, mut world| {
            let received = conformance::messages_arrive_once_and_whole(&mut world, &lengths, is_late);
            assert_eq!(received.len(), lengths.len());
        });
    }
}

#[test]
fn order_is_kept_where_it_is_asked_for() {
    let fences: Vec<bool> = (0..40).map(|number| number % 5 == 2).collect();
    over_each(2, |_, mut world| conformance::order_is_kept_where_it_is_asked_for(&mut world, &fences));
}

/// What is refused is not tried: a provider may give up the connection then.
#[test]
fn memory_is_written_and_read() {
    let all = [What::Read, What::Tell, What::Write];
    let piece = |number: usize| Piece { offset: number, bytes: 1 + number * 2, what: all[number % 3] };
    let pieces: Vec<Piece> = (0..39).map(piece).collect();
    over_each(2, |_, mut world| {
        conformance::memory_is_written_and_read_where_that_is_allowed(&mut world, &pieces);
    });
}

/// tcp looks at the key when a write begins, and so may go on with this one.
#[test]
fn what_is_written_is_over_when_a_message_behind_it_comes() {
    over_each(2, |_, mut world| {
        conformance::what_is_written_is_over_when_a_message_behind_it_comes(&mut world, 16 << 20);
    });
}

#[test]
fn who_needs_the_dead_hears_of_it() {
    over_each(2, |_, mut world| conformance::who_needs_the_dead_hears_of_it(&mut world, |end| *end = None));
}

#[test]
fn who_needs_the_dead_hears_of_it_without_having_met_them() {
    over_each(2, |_, mut world| {
        conformance::who_needs_the_dead_hears_of_it_without_having_met_them(&mut world, |end| *end = None);
    });
}

/// Whose program computes, and calls nothing, is reached when it does.
#[test]
fn who_is_silent_is_not_dead() {
    over_each(2, |name, mut world| {
        if name == THREADED {
            return;
        }
        let (message, into) = (world.memory(&[1; 10]), world.memory(&[0; 10]));
        assert!(world.end(1).receive(into, 0).is_accepted());
        let (begin, mut told) = (Instant::now(), Vec::new());
        while begin.elapsed() < SILENCE {
            let is_sent = world.end(0).send(Target(1), message, Order::Any, 0).is_accepted();
            world.end(0).completions(1, &mut told);
            assert!(!is_sent && told.is_empty(), "nobody has answered: {told:?}");
        }
        world.insist(0, |end| end.send(Target(1), message, Order::Any, 0));
        let told = world.completions(&[1, 1]);
        let [sent, received] = [Of::Sent(0), Of::Received(0, 10)].map(|of| Completion { of, failure: None });
        assert_eq!(told, [[sent], [received]]);
    });
}

#[test]
fn addresses_of_other_networks_reach_nobody() {
    over_each(1, |name, mut world| {
        let own = world.end(0).address();
        assert_eq!(world.end(0).reach(&own).expect("it is its own"), Target(0), "{name}");
        for wrong in [&b""[..], b"sim:0", b"verbs/4\0abc"] {
            let error = world.end(0).reach(wrong).expect_err("it is another one's");
            assert!(error.text().contains("OXMPI_FABRIC"), "{error:?}");
        }
    });
}

#[test]
fn a_network_that_is_not_there_is_named_with_those_that_are() {
    match Libfabric::open_named("nothing/such") {
        Ok(_) => panic!("there is no such network"),
        Err(error) => {
            let text = error.text();
            assert!(text.contains("OXMPI_FABRIC") || text.contains("libfabric"), "{text}");
        }
    }
}

/// libfabric reads its own variable once in a process.
#[test]
fn a_provider_that_is_not_there_is_named_with_those_that_are() {
    let mut child = Command::new(env::current_exe().expect("a test program"));
    child.args(["--exact", "says_why_there_is_no_network", "--ignored", "--nocapture"]);
    let output = child.env("FI_PROVIDER", "nosuch").output().expect("it is this program");
    let text = String::from_utf8_lossy(&output.stderr);
    if text.contains("cannot be loaded") || text.contains("it has no providers") {
        return loudly(&text);
    }
    assert!(text.contains("FI_PROVIDER is \"nosuch\"; it has the providers "), "{text}");
    assert!(text.contains("tcp") && !text.contains("ofi_rxm"), "{text}");
}

#[test]
#[ignore = "not a test: the process that may use no network"]
fn says_why_there_is_no_network() {
    let error = Libfabric::open().map(drop).expect_err("there is no such provider");
    loudly(error.text());
}
