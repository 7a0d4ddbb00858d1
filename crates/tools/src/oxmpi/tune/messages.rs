//! What runs, posts, pulls, hops and messages cost between two ranks, which `mpiexec` starts: this program again.
//!
//! A run is a barrier of one rank, and what a call costs more than a start is what broadcasts take longer by calls.
//! In a loop of broadcasts the receiver finds what it wants posted already, so a pull is what is left of one when a
//! run is taken off; and of messages that follow each other each end needs what it costs that end. A hop is what a
//! message alone takes beyond that: less than between threads that look at a word all the time, and hold up who
//! wants to write it. A post is what is left of a barrier of two, and the cost of a message what is left of a
//! barrier by messages, as plans send them. The root of a gather pulls one block and copies the other, and that of a
//! scatter posts one: what is left is what a byte costs that comes from another processor, and one that is posted. (A
//! broadcast shows the dearer one alone; and two ranks that both post hand their memory back and forth, and write where
//! they have read themselves.) That of a reduction combines what comes from the other one with its own. Those are timed
//! when the library has found out how to go about it. What exchanges need in addition for the first KiB is shared out
//! among post and pull.
//! These are loops of the library, since it lets memory rest that was read, or does without a copy, where that is
//! faster. Where two ranks have one processor, each turn of a loop of barriers ends one, and begins the next.

use std::env;
use std::io::{self, Write};
use std::process::Command;

use oxmpi::Plan;
use oxmpi_plan::FIRST_BYTES;

use super::Constant;
use super::copies::COMBINED_BYTE;
use super::gathered;
use super::processors::Processors;
use super::roots;
use super::timed::{Timed, in_turns};
use crate::Outcome;

/// The option that makes this program a rank.
pub const AS_RANK: &str = "as-rank";
const SHORT: usize = 8;
/// As much as comes line by line.
const FEW: usize = FIRST_BYTES as usize;
const LONG: usize = 64 << 10;
/// As many messages follow each other, so few that none waits for room.
const STREAM: usize = 50;

/// Constants of all that, where `lines` are those of words and bytes.
///
/// # Errors
/// If the ranks cannot be started, or say nothing.
pub fn measure(processors: &Processors, lines: &[Constant]) -> Outcome<Vec<Constant>> {
    let shared = processors.run_on([0, 0], start, || {})?;
    let mut constants = vec![("hop_shared_ns", (shared.barrier - shared.run).max(0.0))];
    if processors.count() > 1 {
        constants.extend(start()?.constants(lines));
    }
    Ok(constants)
}

/// Nanoseconds that the ranks have found, each of one of many that follow each other.
#[derive(Debug)]
struct Times {
    run: f64,
    bcast: f64,
    /// Of a long block that the root pulls, one that it posts, and one that it combines.
    rooted: [f64; 3],
    /// Of exchanges of a short block, one of 1 KiB and a long one.
    exchanges: [f64; 3],
    /// Of a broadcast by a blocking call.
    called: f64,
    barrier: f64,
    /// Of a barrier by messages.
    exchange: f64,
    /// Of a short message and a long one that are answered, one way, and of short ones that are not.
    short: f64,
    long: f64,
    streamed: f64,
}

/// Starts the ranks on the processors of this thread.
fn start() -> Result<Times, String> {
    let failed = |error: io::Error| error.to_string();
    let this = env::current_exe().map_err(failed)?;
    let mpiexec = this.with_file_name("mpiexec");
    let mut command = Command::new(&mpiexec);
    command.args(["-n", "2", "-bind-to", "none"]).arg(&this).args(["tune", &format!("--{AS_RANK}")]);
    let output = command.output().map_err(|error| format!("{}: {error}", mpiexec.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [
        run,
        bcast,
        pull,
        post,
        combine,
        shorts,
        fews,
        longs,
        called,
        barrier,
        exchange,
        short,
        long,
        streamed,
    ] = numbers[..]
    else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the ranks that were to send messages ended with {}: {said}", output.status));
    };
    let (rooted, exchanges) = ([pull, post, combine], [shorts, fews, longs]);
    Ok(Times { run, bcast, rooted, exchanges, called, barrier, exchange, short, long, streamed })
}

impl Times {
    /// Hops are those of words, as much shorter as they are here; `known` are their constants, and those of bytes.
    fn constants(&self, known: &[Constant]) -> Vec<Constant> {
        let beyond = |time: f64, known: f64| (time - known).max(0.0);
        let of_threads =
            |wanted| known.iter().find(|(name, _)| *name == wanted).map_or(0.0, |(_, value)| *value);
        let [near, far] = ["hop_near_ns", "hop_far_ns"].map(of_threads);
        let hop = beyond(self.short, 2.0 * self.streamed);
        let pull = beyond(self.bcast, self.run);
        let each = |more: f64, less: f64, bytes: usize| beyond(more, less) / bytes as f64;
        let byte = |short: f64, long: f64| each(long, short, LONG - SHORT);
        let [shorts, fews, longs] = self.exchanges;
        let gathered_byte = each(longs, fews, LONG - FEW);
        let first_byte = beyond(each(fews, shorts, FEW - SHORT), gathered_byte) / 2.0;
        let copied = of_threads("copy_byte_ns");
        let [pulled, posted, combined] = self.rooted.map(|long| byte(self.bcast, long));
        let far_byte = beyond(pulled, copied + of_threads("pull_byte_ns"));
        vec![
            ("run_ns", self.run),
            ("call_ns", beyond(self.called, self.bcast)),
            ("hop_near_ns", if far > 0.0 { hop * near / far } else { hop }),
            ("hop_far_ns", hop),
            ("pull_ns", pull),
            ("post_ns", beyond(self.barrier, self.run + hop + pull)),
            ("message_ns", beyond(self.exchange, self.run + hop)),
            ("message_byte_ns", byte(self.short, self.long)),
            ("post_byte_ns", beyond(posted, copied)),
            ("far_byte_ns", far_byte),
            (COMBINED_BYTE, beyond(combined, far_byte)),
            ("first_byte_ns", first_byte),
        ]
    }
}

/// One of the two ranks: the first says what [`Times`] consist of.
///
/// # Errors
/// Those of MPI.
pub fn run_rank(out: &mut dyn Write) -> Outcome {
    let env = oxmpi::init()?;
    let world = env.world();
    let processors = Processors::allowed()?;
    processors.bind(processors.ends()[world.rank() % 2]);
    let alone = world.split(Some(world.rank() as i32), 0)?.unwrap_or_else(|| env.world());
    let on_lines = world.planned(Plan::Algorithm("node-flat"));
    let bcast = |bytes: usize| on_lines.bcast_init(vec![0_u8; bytes], 0);
    let exchange = |bytes: usize| gathered::by_both(&on_lines, bytes);
    let times = in_turns([
        Timed::starts(alone.barrier_init()?),
        Timed::starts(bcast(SHORT)?),
        Timed::settled_starts(gathered::by_one(&on_lines, LONG)?)?,
        Timed::settled_starts(roots::posting(&on_lines, LONG)?)?,
        Timed::settled_starts(roots::combining(&on_lines, LONG)?)?,
        Timed::starts(exchange(SHORT)?),
        Timed::starts(exchange(FEW)?),
        Timed::settled_starts(exchange(LONG)?)?,
        Timed::bcasts(&world, SHORT),
        Timed::starts(on_lines.barrier_init()?),
        Timed::starts(world.planned(Plan::Algorithm("dissemination")).barrier_init()?),
        Timed::messages(&world, SHORT, 1),
        Timed::messages(&world, LONG, 1),
        Timed::messages(&world, SHORT, STREAM),
    ])?;
    if world.rank() == 0 {
        writeln!(out, "{}", times.map(|time| time.to_string()).join(" "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_taken_off() {
        let after = |short: f64, byte: f64| short + byte * (LONG - SHORT) as f64;
        let [run, bcast, called, barrier, exchange] = [40.0, 100.0, 145.0, 195.0, 250.0];
        // A byte is copied in 0.02 ns, posted in 0.05, pulled in 0.3, and combined with one that comes in 0.25; of the
        // first KiB each end needs 0.1 more.
        let fews = 240.0 + (0.37 + 0.2) * (FEW - SHORT) as f64;
        let times = Times {
            run,
            bcast,
            rooted: [0.32, 0.07, 0.25].map(|byte| after(bcast, byte)),
            exchanges: [240.0, fews, fews + 0.37 * (LONG - FEW) as f64],
            called,
            barrier,
            exchange,
            short: 190.0,
            long: after(190.0, 0.04),
            streamed: 55.0,
        };
        let known =
            [("hop_far_ns", 200.0), ("hop_near_ns", 100.0), ("copy_byte_ns", 0.02), ("pull_byte_ns", 0.1)];
        let all = times.constants(&known);
        let expected = [
            ("run_ns", 40.0),
            ("call_ns", 45.0),
            ("hop_near_ns", 40.0),
            ("hop_far_ns", 80.0),
            ("pull_ns", 60.0),
            ("post_ns", 15.0),
            ("message_ns", 130.0),
        ];
        assert_eq!(all[..7], expected);
        let bytes = [
            ("message_byte_ns", 0.04),
            ("post_byte_ns", 0.05),
            ("far_byte_ns", 0.2),
            ("reduce_byte_ns", 0.05),
            ("first_byte_ns", 0.1),
        ];
        for ((name, value), (expected, byte)) in all[7..].iter().zip(bytes) {
            assert!(*name == expected && (value - byte).abs() < 1e-9, "{name}: {value}, and not {byte}");
        }
        let odd = Times { bcast: 20.0, barrier: 30.0, exchange: 40.0, short: 90.0, long: 80.0, ..times };
        assert!(odd.constants(&[]).iter().all(|(_, value)| *value >= 0.0));
    }
}
