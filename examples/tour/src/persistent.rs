//! What is prepared once, and started again and again.

use oxmpi::{Communicator, Op, Result};

const CELLS: usize = 16;
const STEPS: usize = 50;

/// Heat in a ring of cells: the halo and the sum are persistent.
pub fn halo(world: &Communicator<'_>) -> Result<()> {
    let ring = world.cartesian(&[world.size()], &[true])?.expect("every rank has a place");
    let mut cells = [0.0; CELLS];
    cells[CELLS / 2] = 1.0;
    // To the left and to the right; from there.
    let mut halo = ring.neighbor_alltoall_init([0.0; 2], [0.0; 2])?;
    let mut heat = ring.allreduce_init([0.0], [0.0], &Op::SUM)?;
    for _ in 0..STEPS {
        halo.send_buf_mut().copy_from_slice(&[cells[0], cells[CELLS - 1]]);
        let under_way = halo.start()?;
        let mut next = [0.0; CELLS];
        for (cell, three) in next[1..CELLS - 1].iter_mut().zip(cells.windows(3)) {
            *cell = three[0] / 4.0 + three[1] / 2.0 + three[2] / 4.0;
        }
        halo = under_way.wait()?;
        let [left, right] = [halo.recv_buf()[0], halo.recv_buf()[1]];
        next[0] = left / 4.0 + cells[0] / 2.0 + cells[1] / 4.0;
        next[CELLS - 1] = cells[CELLS - 2] / 4.0 + cells[CELLS - 1] / 2.0 + right / 4.0;
        cells = next;
        heat.send_buf_mut()[0] = cells.iter().sum();
        heat = heat.start()?.wait()?;
        assert!((heat.recv_buf()[0] - world.size() as f64).abs() < 1e-9, "no heat is lost");
    }
    Ok(())
}
