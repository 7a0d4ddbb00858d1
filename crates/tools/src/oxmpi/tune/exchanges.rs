//! What it costs that two ranks exchange blocks: each posts, copies and pulls.

use oxmpi::{Communicator, Plan};

use super::messages::settled_loop_ns;

/// Nanoseconds of an exchange of blocks of so many bytes, of many that follow each other, by lines.
pub fn measure(world: &Communicator<'_>, lengths: [usize; 3]) -> oxmpi::Result<[f64; 3]> {
    let on_lines = world.planned(Plan::Algorithm("node-flat"));
    let mut times = [0.0; 3];
    for (time, bytes) in times.iter_mut().zip(lengths) {
        *time = settled_loop_ns(on_lines.allgather_init(vec![0_u8; bytes], vec![0_u8; 2 * bytes])?)?;
    }
    Ok(times)
}
