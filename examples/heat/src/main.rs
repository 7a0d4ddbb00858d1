//! Heat spreads in an insulated rod, of which each rank has a part.
//!
//! In each step a cell gives a quarter of its heat to each neighbour. The neighbours of a part's outermost cells lie on
//! other ranks: `sendrecv` gets their heat. At the ends of the rod, where the neighbour is `Null`, it leaves what is
//! there: the cell's own heat, so that none is lost.

use oxmpi::{Dest, Op, Source};

const CELLS: usize = 20;
const STEPS: usize = 100;

fn main() -> oxmpi::Result<()> {
    let env = oxmpi::init()?;
    let world = env.world();
    let (rank, size) = (world.rank(), world.size());
    let (to_left, from_left) = neighbour(rank.checked_sub(1));
    let (to_right, from_right) = neighbour(Some(rank + 1).filter(|&right| right < size));

    let mut now = [0.0; CELLS];
    if rank == 0 {
        now[0] = 100.0;
    }
    for _ in 0..STEPS {
        let (mut left, mut right) = ([now[0]], [now[CELLS - 1]]);
        world.sendrecv(&now[..1], to_left, 0, &mut right, from_right, 0)?;
        world.sendrecv(&now[CELLS - 1..], to_right, 0, &mut left, from_left, 0)?;
        let around: Vec<f64> = [&left[..], &now, &right].concat();
        for (cell, three) in now.iter_mut().zip(around.windows(3)) {
            *cell = three[0] / 4.0 + three[1] / 2.0 + three[2] / 4.0;
        }
    }

    let own: f64 = now.iter().sum();
    let mut all = [0.0];
    world.reduce(&[own], &mut all, &Op::SUM, 0)?;
    if rank == 0 {
        println!("{size} ranks: heat {:.6} in all, {own:.6} in the first part", all[0]);
    }
    Ok(())
}

/// A rank as the destination and the source of messages.
fn neighbour(rank: Option<usize>) -> (Dest, Source) {
    rank.map_or((Dest::Null, Source::Null), |rank| (Dest::Rank(rank), Source::Rank(rank)))
}
