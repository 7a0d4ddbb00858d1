//! Which message is received by whom.
//!
//! MPI-5.0: Point-to-Point Communication.

use oxmpi_core::{Dest, Outcome, SendMode, Source, TagPattern};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use crate::harness::{Random, Rank, blank, memory, run};

/// One of the messages from a rank to another, in the order in which they are sent.
#[derive(Clone, Debug)]
struct Sent {
    tag: i32,
    contents: Vec<u8>,
    mode: SendMode,
}

/// Lengths of every protocol.
const LENGTHS: [usize; 7] = [0, 8, 100, 3000, 20_000, 100_000, 300_000];
const LONGEST: usize = 300_000;

/// What one rank sends to another, as both know.
fn messages(seed: u64, from: u32, to: u32) -> Vec<Sent> {
    let mut random = Random::of(seed, u64::from(from) << 32 | u64::from(to));
    let count = 3 + random.below(8);
    let one = |index: usize| {
        let bytes = LENGTHS[random.below(if index.is_multiple_of(4) { LENGTHS.len() } else { 5 })];
        let contents = (0..bytes).map(|at| (at * 7 + index * 31 + from as usize * 3 + to as usize) as u8);
        let mode = if random.below(3) == 0 { SendMode::Synchronous } else { SendMode::Standard };
        Sent { tag: random.below(3) as i32, contents: contents.collect(), mode }
    };
    (0..count).map(one).collect()
}

/// What a rank has still to receive, by source.
struct Expected(Vec<Vec<Sent>>);

impl Expected {
    /// A source and a tag that are still to come.
    fn any(&self, rank: &Rank) -> Option<(i32, i32)> {
        let sources: Vec<_> = (0..self.0.len()).filter(|&source| !self.0[source].is_empty()).collect();
        let source = *sources.get(rank.below(sources.len().max(1)))?;
        let sent = &self.0[source];
        Some((source as i32, sent[rank.below(sent.len())].tag))
    }

    /// The message from a source that a receive of a tag, or of any, gets: the first that matches.
    fn take(&mut self, source: i32, tag: Option<i32>) -> Sent {
        let sent = &mut self.0[source as usize];
        let place = sent.iter().position(|sent| tag.is_none_or(|tag| sent.tag == tag));
        sent.remove(place.expect("no more messages are received than were sent"))
    }
}

fn check(status: &oxmpi_base::Status, into: &Region, sent: &Sent, what: &str) {
    assert_eq!((status.tag, status.bytes), (sent.tag, sent.contents.len() as u64), "{what}");
    assert!(into.to_vec()[..sent.contents.len()] == sent.contents, "{what}: other contents");
}

/// Receives one message or a few, in one of all ways.
fn receive(rank: &Rank, expected: &mut Expected, into: &[Region; 3]) {
    let Some((source, tag)) = expected.any(rank) else { return };
    let comm = rank.world();
    let buffer = || Buffer::dense(into[0]);
    let pattern = |tag: Option<i32>| tag.map_or(TagPattern::Any, TagPattern::Tag);
    let tag = Some(tag).filter(|_| rank.below(2) == 0);
    let from = if rank.below(3) == 0 { Source::Any } else { Source::Rank(source) };
    let status = match rank.below(6) {
        0 | 1 => rank.mpi().recv(comm, buffer(), from, pattern(tag)).and_then(Outcome::into_result),
        2 => {
            let seen = rank.mpi().probe(comm, from, pattern(tag)).expect("good arguments");
            // A probe and a receive that names what it has seen get the same message.
            let status = rank
                .mpi()
                .recv(comm, buffer(), Source::Rank(seen.source), TagPattern::Tag(seen.tag))
                .and_then(Outcome::into_result);
            let status = status.expect("it fits");
            assert_eq!(status.bytes, seen.bytes, "the probe saw another message");
            check(&status, &into[0], &expected.take(seen.source, tag), "probe");
            return;
        }
        3 => {
            let (seen, message) = rank.mpi().mprobe(comm, from, pattern(tag)).expect("good arguments");
            let status = rank.mpi().mrecv(message, buffer()).and_then(Outcome::into_result).expect("it fits");
            assert_eq!((status.source, status.tag), (seen.source, seen.tag));
            Ok(status)
        }
        4 => {
            let (seen, message) = loop {
                if let Some(found) = rank.mpi().improbe(comm, from, pattern(tag)).expect("good arguments") {
                    break found;
                }
            };
            let request = rank.mpi().imrecv(message, buffer()).expect("it was taken");
            let completion = rank.mpi().wait(request).expect("it is there");
            assert_eq!((completion.status.source, completion.status.tag), (seen.source, seen.tag));
            Ok(completion.status)
        }
        _ => return receive_posted(rank, expected, into, source),
    };
    let status = status.expect("it fits");
    check(&status, &into[0], &expected.take(status.source, tag), "receive");
}

/// Posts several receives from one rank, and completes them in any order: they were matched as they were posted.
fn receive_posted(rank: &Rank, expected: &mut Expected, into: &[Region; 3], source: i32) {
    let posted: Vec<_> = (into.iter())
        .map_while(|region| {
            let sent = &expected.0[source as usize];
            let tag = sent.get(rank.below(sent.len().max(1)))?.tag;
            let tag = Some(tag).filter(|_| rank.below(2) == 0);
            let pattern = tag.map_or(TagPattern::Any, TagPattern::Tag);
            let request =
                rank.mpi().irecv(rank.world(), Buffer::dense(*region), Source::Rank(source), pattern);
            Some((request.expect("good arguments"), region, expected.take(source, tag)))
        })
        .collect();
    let keys: Vec<_> = posted.iter().map(|(key, ..)| Some(*key)).collect();
    let each = |index: usize, completion: oxmpi_core::Completion| {
        assert!(completion.error.is_none(), "{completion:?}");
        check(&completion.status, posted[index].1, &posted[index].2, "posted receive");
    };
    rank.mpi().wait_all(&keys, each).expect("all are there");
}

#[test]
pub fn messages_of_a_rank_are_received_in_the_order_in_which_they_were_sent() {
    for (ranks, seed) in [(1, 1), (2, 2), (2, 3), (3, 4), (5, 5), (5, 6), (9, 7)] {
        run(ranks, seed, |rank| {
            let into = [(); 3].map(|()| blank(LONGEST));
            let mut expected =
                Expected((0..rank.size()).map(|from| messages(seed, from, rank.rank())).collect());
            let sends: Vec<_> = (0..rank.size())
                .flat_map(|to| messages(seed, rank.rank(), to).into_iter().map(move |sent| (to, sent)))
                .map(|(to, sent)| {
                    let buffer = Buffer::dense(memory(&sent.contents));
                    let dest = Dest::Rank(to.cast_signed());
                    Some(rank.mpi().isend(rank.world(), buffer, dest, sent.tag, sent.mode).expect("good"))
                })
                .collect();
            while expected.any(rank).is_some() {
                receive(rank, &mut expected, &into);
            }
            rank.mpi().wait_all(&sends, |_, completion| assert!(completion.error.is_none())).expect("sent");
        });
    }
}

/// Cancel: either the operation is cancelled, or it happens, and never both.
#[test]
pub fn a_send_that_is_cancelled_is_received_or_not_at_both_ends_alike() {
    for seed in 0..12 {
        run(2, seed, |rank| {
            let other = 1 - rank.rank().cast_signed();
            for round in 0..20 {
                let into = blank(8);
                let tag = 10 + i32::from(round);
                let posts = |tag| {
                    let buffer = Buffer::dense(into);
                    rank.mpi().irecv(rank.world(), buffer, Source::Rank(other), TagPattern::Tag(tag))
                };
                let early = (rank.below(2) == 0).then(|| posts(tag).expect("good arguments"));
                let buffer = Buffer::dense(memory(&[round; 8]));
                let sent =
                    rank.mpi().isend(rank.world(), buffer, Dest::Rank(other), tag, SendMode::Synchronous);
                let sent = sent.expect("good arguments");
                let received = early.unwrap_or_else(|| posts(tag).expect("good arguments"));
                rank.mpi().cancel(sent).expect("it is a message");
                let cancelled = rank.mpi().wait(sent).expect("it is there").status.cancelled;
                let word = blank(1);
                let told = Buffer::dense(memory(&[cancelled.into()]));
                rank.mpi()
                    .sendrecv(
                        rank.world(),
                        &told,
                        Dest::Rank(other),
                        2,
                        Buffer::dense(word),
                        Source::Rank(other),
                        TagPattern::Tag(2),
                    )
                    .and_then(Outcome::into_result)
                    .expect("good arguments");
                let was_cancelled = word.to_vec() == [1];
                if was_cancelled {
                    rank.mpi().cancel(received).expect("it is a message");
                }
                let completion = rank.mpi().wait(received).expect("it is there");
                assert_eq!(completion.status.cancelled, was_cancelled, "seed {seed} round {round}");
                assert!(was_cancelled || into.to_vec() == [round; 8]);
            }
        });
    }
}

/// Communication Modes: a synchronous send is complete when a matching receive has been posted, and not before.
#[test]
pub fn a_synchronous_send_is_complete_no_sooner_than_its_receive_has_begun() {
    for (seed, &bytes) in (0..).zip(&LENGTHS) {
        run(2, seed, |rank| {
            if rank.rank() == 0 {
                let buffer = Buffer::dense(blank(bytes));
                let dest = Dest::Rank(1);
                let sent = rank.mpi().isend(rank.world(), buffer, dest, 1, SendMode::Synchronous);
                let sent = sent.expect("good arguments");
                for _ in 0..50 {
                    assert!(rank.mpi().test(sent).expect("it is there").is_none(), "{bytes} bytes");
                }
                let go = Buffer::EMPTY;
                rank.mpi().send(rank.world(), &go, dest, 2, SendMode::Standard).expect("good arguments");
                rank.mpi().wait(sent).expect("it is there");
            } else {
                let from = Source::Rank(0);
                rank.mpi()
                    .recv(rank.world(), Buffer::EMPTY, from, TagPattern::Tag(2))
                    .and_then(Outcome::into_result)
                    .expect("the sign");
                let into = Buffer::dense(blank(bytes));
                rank.mpi()
                    .recv(rank.world(), into, from, TagPattern::Tag(1))
                    .and_then(Outcome::into_result)
                    .expect("it fits");
            }
        });
    }
}
