//! A walk through the crate: one function for each thing that MPI does.
//!
//! `cargo oxmpi run -n 4 -p tour` runs all, `... -- ring halo` some, on whatever number of ranks; `cargo test -p tour`
//! those that ranks which are threads may come to. README.md says of which of rsmpi's
//! examples each is the counterpart.

mod collectives;
mod communicators;
mod data;
mod messages;
mod nonblocking;
mod persistent;
mod spawning;

use oxmpi::{Communicator, Result};

type Stop = (&'static str, fn(&Communicator<'_>) -> Result<()>);

const STOPS: [Stop; 30] = [
    ("hello", messages::hello),
    ("ring", messages::ring),
    ("modes", messages::modes),
    ("nobody", messages::nobody),
    ("unknown_length", messages::unknown_length),
    ("time", messages::time),
    ("threads", messages::threads),
    ("barrier", collectives::barrier),
    ("broadcast", collectives::broadcast),
    ("gather", collectives::gather),
    ("gather_blocks", collectives::gather_blocks),
    ("exchange", collectives::exchange),
    ("reduce", collectives::reduce),
    ("user_operation", collectives::user_operation),
    ("scan", collectives::scan),
    ("overlap", nonblocking::overlap),
    ("many_requests", nonblocking::many_requests),
    ("collectives_at_once", nonblocking::collectives_at_once),
    ("owned_buffers", nonblocking::owned_buffers),
    ("futures", nonblocking::futures),
    ("structures", data::structures),
    ("columns", data::columns),
    ("packed", data::packed),
    ("complex_numbers", data::complex_numbers),
    ("split", communicators::split),
    ("groups", communicators::groups),
    ("attributes", communicators::attributes),
    ("between_groups", communicators::between_groups),
    ("grid", communicators::grid),
    ("halo", persistent::halo),
];

/// Those that only processes come to.
const OF_PROCESSES: [Stop; 2] = [("spawn", spawning::spawn), ("spawn_multiple", spawning::spawn_multiple)];

fn main() -> Result<()> {
    let env = oxmpi::init()?;
    if let Some(parent) = env.parent() {
        return spawning::work(&env, parent);
    }
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    walk(&env.world(), STOPS.iter().chain(&OF_PROCESSES).filter(|(name, _)| is_wanted(name)))
}

fn walk<'a>(world: &Communicator<'_>, stops: impl Iterator<Item = &'a Stop>) -> Result<()> {
    for (name, stop) in stops {
        stop(&world.duplicate()?)?;
        if world.rank() == 0 {
            println!("{name}: done");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[oxmpi::test(ranks = [1, 2, 3, 4])]
    fn every_stop_is_reached(world: Communicator<'_>) -> Result<()> {
        walk(&world, STOPS.iter())
    }
}
