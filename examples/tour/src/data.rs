//! What messages consist of.

use oxmpi::{Communicator, Complex, Datatype, Op, Result, Shape, View, ViewMut, pack, unpack};

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(u8)]
enum Phase {
    Gas,
    Liquid,
}

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
struct Cell {
    phase: Phase,
    velocity: [f32; 3],
    neighbors: (u16, bool),
}

/// Structures, nested, with enumerations, tuples and arrays.
pub fn structures(world: &Communicator<'_>) -> Result<()> {
    let cell = |rank: usize| Cell {
        phase: if rank.is_multiple_of(2) { Phase::Gas } else { Phase::Liquid },
        velocity: [rank as f32; 3],
        neighbors: (rank as u16, true),
    };
    let mut cells = vec![cell(0); world.size()];
    world.allgather(&cell(world.rank()), &mut cells)?;
    assert!(cells.into_iter().eq((0..world.size()).map(cell)));
    Ok(())
}

/// A column of a matrix is sent, and received as a row.
pub fn columns(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let matrix: Vec<usize> = (0..12).map(|place| 100 * rank + place).collect();
    // The second column of 4 rows of 3.
    let column = View::new(&matrix, &Shape::indexed([1..2, 4..5, 7..8, 10..11]))?;
    let mut theirs = vec![0; 12];
    let mut row = ViewMut::new(&mut theirs, &Shape::indexed([3..6, 6..7]))?;
    let left = (rank + size - 1) % size;
    world.sendrecv(&column, (rank + 1) % size, 0, &mut row, left, 0)?;
    assert_eq!(theirs[3..7], [1, 4, 7, 10].map(|place| 100 * left + place));
    Ok(())
}

/// Complex numbers are numbers.
pub fn complex_numbers(world: &Communicator<'_>) -> Result<()> {
    let mut product = Complex { re: 0.0, im: 1.0 };
    world.allreduce_in_place(&mut product, &Op::PROD)?;
    let powers = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)];
    assert_eq!((product.re, product.im), powers[world.size() % 4]);
    Ok(())
}

/// A header and as many numbers as it says, in one message around the ring.
pub fn packed(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let left = (rank + size - 1) % size;
    let (mut mine, mut theirs) = (Vec::new(), vec![0; 100]);
    pack(&(rank as u32, 'x'), &mut mine);
    pack(&vec![1.5; rank], &mut mine);
    let status = world.sendrecv(&mine, (rank + 1) % size, 0, &mut theirs, left, 0)?;
    let (mut rest, mut header) = (&theirs[..status.bytes() as usize], (0_u32, '-'));
    unpack(&mut rest, &mut header)?;
    let mut numbers = vec![0.0; header.0 as usize];
    unpack(&mut rest, &mut numbers)?;
    assert_eq!((header, numbers, rest), ((left as u32, 'x'), vec![1.5; left], &[][..]));
    Ok(())
}
