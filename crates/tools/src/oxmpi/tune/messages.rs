//! What posts and messages cost between two ranks, which `mpiexec` starts: this program again.
//!
//! A post is what is left of a barrier of two when the way of the line is taken off: so the cost of beginning and
//! ending a run is in it, which threads that share a word do not show.

use std::env;
use std::io::Write;
use std::process::Command;

use oxmpi::{Communicator, Plan};

use super::Constant;
use super::processors::{Processors, least_ns};
use crate::Outcome;

/// The option that makes this program a rank.
pub const AS_RANK: &str = "as-rank";
const SHORT: usize = 8;
const LONG: usize = 32 << 10;
const TRIPS: usize = 500;
const TRIALS: usize = 9;
const TAG: i32 = 1;

/// Constants of posts and messages.
///
/// # Errors
/// If the ranks cannot be started, or say nothing.
pub fn measure(processors: &Processors) -> Outcome<Vec<Constant>> {
    if processors.count() < 2 {
        return Ok(Vec::new());
    }
    let this = env::current_exe()?;
    let mpiexec = this.with_file_name("mpiexec");
    let mut command = Command::new(&mpiexec);
    command.args(["-n", "2", "-bind-to", "none"]).arg(&this).args(["tune", &format!("--{AS_RANK}")]);
    let output = command.output().map_err(|error| format!("{}: {error}", mpiexec.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [barrier, short, long, hop] = numbers[..] else {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(
            format!("the ranks that were to send messages ended with {}: {said}", output.status).into()
        );
    };
    Ok(constants(barrier, [short, long], hop))
}

/// From nanoseconds of a barrier, of a short and of a long message, and of the way of a line between the same
/// processors.
fn constants(barrier: f64, [short, long]: [f64; 2], hop: f64) -> Vec<Constant> {
    let byte = ((long - short) / (LONG - SHORT) as f64).max(0.0);
    let beyond_hop = |time: f64| (time - hop).max(0.0);
    vec![("post_ns", beyond_hop(barrier)), ("message_ns", beyond_hop(short)), ("message_byte_ns", byte)]
}

/// One of the two ranks: the first says how long a barrier takes, a short message, a long one, and a line.
///
/// # Errors
/// Those of MPI.
pub fn run_rank(out: &mut dyn Write) -> Outcome {
    let env = oxmpi::init()?;
    let world = env.world();
    let processors = Processors::allowed()?;
    let ends = processors.ends();
    let hop = if world.rank() == 0 { super::lines::hop_between_ns(&processors, ends) } else { 0.0 };
    processors.bind(ends[world.rank() % 2]);
    let barrier = barrier_ns(&world)?;
    let [short, long] = [SHORT, LONG].map(|bytes| trip_ns(&world, bytes));
    if world.rank() == 0 {
        writeln!(out, "{barrier} {} {} {hop}", short?, long?)?;
    }
    Ok(())
}

/// Nanoseconds of a barrier on lines.
fn barrier_ns(world: &Communicator<'_>) -> oxmpi::Result<f64> {
    let mut barrier = Some(world.planned(Plan::Algorithm("node-flat")).barrier_init()?);
    let mut outcome = Ok(());
    let mut meet = || -> oxmpi::Result<()> {
        for _ in 0..TRIPS {
            let Some(request) = barrier.take() else { return Ok(()) };
            barrier = Some(request.start()?.wait()?);
        }
        Ok(())
    };
    let took = least_ns(TRIALS, TRIPS, || {
        if outcome.is_ok() {
            outcome = meet();
        }
    });
    outcome.map(|()| took)
}

/// Nanoseconds of a message to the other rank.
fn trip_ns(world: &Communicator<'_>, bytes: usize) -> oxmpi::Result<f64> {
    let (send, mut recv) = (vec![1_u8; bytes], vec![0_u8; bytes]);
    let other = 1 - world.rank();
    let mut outcome = Ok(());
    let mut exchange = || -> oxmpi::Result<()> {
        for _ in 0..TRIPS {
            if world.rank() == 0 {
                world.send(&send, other, TAG)?;
                world.recv(&mut recv, other, TAG)?;
            } else {
                world.recv(&mut recv, other, TAG)?;
                world.send(&send, other, TAG)?;
            }
        }
        Ok(())
    };
    let took = least_ns(TRIALS, 2 * TRIPS, || {
        if outcome.is_ok() {
            outcome = exchange();
        }
    });
    outcome.map(|()| took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_costs_what_is_beyond_its_line_and_its_bytes() {
        let long = 500.0 + 0.04 * (LONG - SHORT) as f64;
        let all = constants(215.0, [500.0, long], 200.0);
        assert_eq!(all[..2], [("post_ns", 15.0), ("message_ns", 300.0)]);
        assert!((all[2].1 - 0.04).abs() < 1e-9);
        assert!(constants(100.0, [100.0, 50.0], 200.0).iter().all(|(_, value)| *value == 0.0));
    }
}
