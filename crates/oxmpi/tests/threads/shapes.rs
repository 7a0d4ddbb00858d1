//! Parts of any shape, from everybody to everybody and along edges.

use oxmpi::{Communicator, Datatype, ErrorClass, Result, Shape, View, ViewMut};

/// A part of two columns of a matrix, for each of so many ranks.
fn columns(rows: usize, ranks: usize) -> Vec<Shape> {
    let of = |rank| Shape::subarray([rows, 2 * ranks], [0..rows, 2 * rank..2 * rank + 2]);
    (0..ranks).map(of).collect()
}

/// A part of so many rows of a matrix of two columns.
fn rows(rows: usize, ranks: usize) -> Vec<Shape> {
    let of = |rank| Shape::subarray([rows * ranks, 2], [rows * rank..rows * (rank + 1), 0..2]);
    (0..ranks).map(of).collect()
}

#[oxmpi::test(ranks = [1, 2, 3, 5])]
fn columns_become_rows_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (from, to) = (columns(3, size), rows(3, size));
    let send: Vec<usize> = (0..6 * size).map(|place| 1000 * rank + place).collect();
    // Row `row` of the sender `peer`, of which this rank gets its two columns.
    let expected: Vec<usize> = (0..size)
        .flat_map(|peer| {
            (0..3).flat_map(move |row| [0, 1].map(|at| 1000 * peer + 2 * size * row + 2 * rank + at))
        })
        .collect();
    let empty = vec![usize::MAX; 6 * size];

    let mut recv = empty.clone();
    world.alltoallw(&send, &from, &mut recv, &to)?;
    assert_eq!(recv, expected);
    let mut recv = empty.clone();
    world.scope(|scope| scope.alltoallw(&send, &from, &mut recv, &to)?.wait().map(drop))?;
    assert_eq!(recv, expected);
    let ((_, recv), _) = world.ialltoallw(send.clone(), &from, empty.clone(), &to)?.wait()?;
    assert_eq!(recv, expected);
    let mut again = world.alltoallw_init(send.clone(), &from, empty.clone(), &to)?;
    for _ in 0..3 {
        again.recv_buf_mut().fill(usize::MAX);
        again = again.start()?.wait()?;
        assert_eq!(again.recv_buf(), expected);
    }
    let (mut lent, mut recv) = (send.clone(), empty);
    world.scope(|scope| {
        let again = scope.alltoallw_init(&mut lent, &from, &mut recv, &to)?;
        again.start()?.wait().map(drop)
    })?;
    assert_eq!(recv, expected);
    Ok(())
}

#[oxmpi::test(ranks = [2, 4])]
fn parts_are_exchanged_in_place(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut buf: Vec<usize> = (0..6 * size).map(|place| 1000 * rank + place).collect();
    world.alltoallw_in_place(&mut buf, &columns(3, size))?;
    for (place, element) in buf.into_iter().enumerate() {
        let (row, peer, at) = (place / (2 * size), place % (2 * size) / 2, place % 2);
        assert_eq!(element, 1000 * peer + 2 * size * row + 2 * rank + at);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
struct Cell {
    is_wall: bool,
    speed: f64,
}

#[oxmpi::test(ranks = 2)]
fn buffers_may_be_structures_with_padding_and_views(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let cell = |place: usize| Cell { is_wall: place.is_multiple_of(3), speed: place as f64 };
    let send: Vec<Cell> = (0..6 * size).map(|place| cell(100 * rank + place)).collect();
    let mut recv = vec![cell(0); 6 * size];
    world.alltoallw(&send, &columns(3, size), &mut recv, &rows(3, size))?;
    assert_eq!(recv[6], cell(100 + 2 * rank));

    // Of every second element.
    let spread = Shape::strided(6 * size, 1, 2);
    let numbers: Vec<usize> = (0..12 * size).map(|place| 100 * rank + place).collect();
    let mut others = vec![usize::MAX; 12 * size];
    let (from, mut to) = (View::new(&numbers, &spread)?, ViewMut::new(&mut others, &spread)?);
    world.alltoallw(&from, &columns(3, size), &mut to, &rows(3, size))?;
    assert_eq!(others[12..16], [100 + 4 * rank, usize::MAX, 100 + 4 * rank + 2, usize::MAX]);

    // What has no bytes.
    let nothing = vec![Shape::strided(1 << 40, 1, 0); size];
    world.alltoallw(&[(); 1], &nothing, &mut [(); 1], &vec![Shape::range(0..1); size])
}

/// Up, down, left and right of a field of 3 x 3 with a border.
fn borders(places: [[std::ops::Range<usize>; 2]; 4]) -> [Shape; 4] {
    places.map(|part| Shape::subarray([5, 5], part))
}

#[oxmpi::test(ranks = [1, 2, 6])]
fn a_halo_is_exchanged_within_its_field(world: Communicator<'_>) -> Result<()> {
    let dims = oxmpi::balanced_dims(world.size(), [0, 0])?;
    let grid = world.cartesian(&dims, &[true, false])?.expect("every rank has a place");
    let at = |dimension, places| grid.shift(dimension, places).map(|(_, to)| to);
    let inner = borders([[1..2, 1..4], [3..4, 1..4], [1..4, 1..2], [1..4, 3..4]]);
    let outer = borders([[0..1, 1..4], [4..5, 1..4], [1..4, 0..1], [1..4, 4..5]]);
    let mut field: Vec<usize> = (0..25).map(|place| 100 * grid.rank() + place).collect();
    let before = field.clone();
    let look = |field: &[usize]| -> Result<()> {
        for (edge, (dimension, places, mine, theirs)) in
            [(0, -1, 2, 17), (0, 1, 22, 7), (1, -1, 10, 13), (1, 1, 14, 11)].into_iter().enumerate()
        {
            let expected = match at(dimension, places)? {
                oxmpi::Dest::Rank(rank) => 100 * rank + theirs,
                oxmpi::Dest::Null => before[mine],
            };
            assert_eq!(field[mine], expected, "edge {edge}");
        }
        assert_eq!((field[0], &field[6..9]), (before[0], &before[6..9]));
        Ok(())
    };
    grid.neighbor_alltoallw_in_place(&mut field, &inner, &outer)?;
    look(&field)?;
    let mut other = before.clone();
    grid.neighbor_alltoallw(&before, &inner, &mut other, &outer)?;
    assert_eq!(other, field);
    let field = grid.ineighbor_alltoallw_in_place(before.clone(), &inner, &outer)?.wait()?.0;
    look(&field)?;
    let mut lent = before.clone();
    grid.scope(|scope| {
        let mut halo = scope.neighbor_alltoallw_in_place_init(&mut lent, &inner, &outer)?;
        for _ in 0..3 {
            halo.buf_mut().copy_from_slice(&before);
            halo = halo.start()?.wait()?;
            look(halo.buf())?;
        }
        Ok(())
    })
}

#[oxmpi::test(ranks = 2)]
fn shapes_that_cannot_be_are_refused(world: Communicator<'_>) -> Result<()> {
    let (half, all) = (|at: usize| Shape::range(at..at + 2), Shape::range(0..4));
    let (good, twice) = ([half(0), half(2)], [half(0), half(1)]);
    let class = |send: &[Shape], recv: &[Shape]| {
        world.alltoallw(&[1; 4], send, &mut [0; 4], recv).expect_err("it cannot be").class()
    };
    assert_eq!(class(&good, &twice), ErrorClass::Arg);
    assert_eq!(class(&good, &[half(0), half(3)]), ErrorClass::Arg);
    assert_eq!(class(&[half(0), half(9)], &good), ErrorClass::Arg);
    assert_eq!(class(&good, &[half(0)]), ErrorClass::Count);
    assert_eq!(class(&[half(0), half(0), half(0)], &good), ErrorClass::Count);
    // What is sent may be there twice.
    let mut recv = [0; 4];
    world.alltoallw(&[1, 2, 3, 4], &twice, &mut recv, &good)?;
    let line = world.cartesian(&[2], &[true])?.expect("every rank has a place");
    let mut buf = [1, 2, 3, 4, 5, 6];
    let wrong = line.neighbor_alltoallw_in_place(&mut buf, &twice, &[half(2), half(4)]);
    let wrong = wrong.expect_err("an element is sent and received into");
    assert_eq!(wrong.class(), ErrorClass::Arg);
    assert!(wrong.text().contains("1..3 are sent, and 2..4 received into"), "{wrong}");
    line.neighbor_alltoallw_in_place(&mut buf, &[half(0), half(0)], &[half(2), half(4)])?;
    assert_eq!(buf, [1, 2, 1, 2, 1, 2]);
    let nowhere = world.neighbor_alltoallw(&[1; 4], &good, &mut [0; 4], &good);
    assert_eq!(nowhere.expect_err("there is no topology").class(), ErrorClass::Topology);
    assert_eq!(class(&[all.clone(), half(0)], &[all, half(0)]), ErrorClass::Arg);
    Ok(())
}

/// MPI-5.0: Datatype Constructors: entries of a type that is received into may not overlap.
#[oxmpi::test(ranks = 2)]
fn one_element_any_number_of_times_is_refused(world: Communicator<'_>) -> Result<()> {
    let all = [Shape::strided(1 << 60, 1, 0), Shape::range(1..2)];
    let each = [Shape::range(0..1), Shape::range(1..2)];
    let class = |outcome: Result<()>| outcome.expect_err("it cannot be").class();
    assert_eq!(class(world.alltoallw(&[1; 2], &each, &mut [0; 2], &all)), ErrorClass::Arg);
    let line = world.cartesian(&[2], &[true])?.expect("every rank has a place");
    assert_eq!(class(line.neighbor_alltoallw(&[1; 2], &each, &mut [0; 2], &all)), ErrorClass::Arg);
    // Sent, it may be; but not received into as well.
    assert_eq!(class(line.neighbor_alltoallw_in_place(&mut [0; 2], &all, &each)), ErrorClass::Arg);
    // Where it lies cannot be listed.
    let numbers = [1, 2, 3, 4];
    let odd = View::new(&numbers, &Shape::strided(2, 1, 2))?;
    assert_eq!(class(world.alltoallw(&odd, &all, &mut [0; 2], &each)), ErrorClass::NoMem);
    Ok(())
}

#[oxmpi::test(ranks = 5)]
fn two_groups_exchange_parts(world: Communicator<'_>) -> Result<()> {
    let side = usize::from(world.rank() >= 2);
    let group = world.split(Some(side as i32), 0)?.expect("it has a color");
    let between = group.intercommunicator(0, &world, [2, 0][side], 0)?;
    let (here, there) = (between.size(), between.remote_size());
    let send: Vec<usize> = (0..6 * there).map(|place| 1000 * world.rank() + place).collect();
    let mut recv = vec![usize::MAX; 6 * there];
    between.alltoallw(&send, &columns(3, there), &mut recv, &rows(3, there))?;
    // Of the last one there, the last row of the columns of this rank.
    let last = [2, 0][side] + there - 1;
    assert_eq!(recv[6 * there - 1], 1000 * last + 2 * here * 2 + 2 * between.rank() + 1);
    Ok(())
}
