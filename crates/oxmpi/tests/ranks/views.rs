//! Parts of slices as buffers, in every lifetime.

use oxmpi::{Datatype, ErrorClass, Op, Result, Shape, View, ViewMut, ViewVec};

use crate::job::on_ranks;

/// Padding inside.
#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(C)]
struct Cell(u8, f64);

/// Shapes on a slice of 24 elements, with the indices of their elements.
#[expect(clippy::single_range_in_vec_init, reason = "a range is what is meant")]
fn shapes() -> Vec<(Shape, Vec<usize>)> {
    vec![
        (Shape::strided(6, 1, 4), (0..6).map(|row| 4 * row).collect()),
        (Shape::strided(3, 2, 8), vec![0, 1, 8, 9, 16, 17]),
        (Shape::strided(2, 12, 12), (0..24).collect()),
        (Shape::strided(0, 7, 100), vec![]),
        (Shape::indexed([20..24, 3..3, 0..2, 7..8]), vec![20, 21, 22, 23, 0, 1, 7]),
        (Shape::indexed([]), vec![]),
        (Shape::subarray([24], [5..9]), vec![5, 6, 7, 8]),
        (Shape::subarray([4, 6], [1..3, 4..6]), vec![10, 11, 16, 17]),
        (Shape::subarray([2, 3, 4], [0..2, 2..3, 1..3]), vec![9, 10, 21, 22]),
        (Shape::subarray([2, 3, 4], [0..2, 1..1, 0..4]), vec![]),
    ]
}

#[test]
fn views_go_round_in_every_lifetime() {
    on_ranks("views::views_go_round_in_every_lifetime", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let memory = |rank: usize| -> Vec<Cell> { (0..24).map(|i| Cell(i, (rank * 100) as f64)).collect() };
        let (mine, theirs, none) = (memory(rank), memory(left), vec![Cell(99, -1.0); 24]);
        for (shape, indices) in shapes() {
            let mut expected = none.clone();
            indices.iter().for_each(|&index| expected[index] = theirs[index]);
            let (view, mut buf) = (View::new(&mine, &shape)?, none.clone());
            assert_eq!(view.elements(), indices.len());
            let status = world.sendrecv(&view, right, 0, &mut ViewMut::new(&mut buf, &shape)?, left, 0)?;
            assert_eq!((&buf, status.count::<Cell>()), (&expected, Some(indices.len())));
            // A view on one side, as many elements that follow each other on the other.
            let mut packed = vec![Cell(0, 0.0); indices.len()];
            world.sendrecv(&view, right, 0, &mut packed, left, 0)?;
            assert_eq!(packed, View::new(&theirs, &shape)?.to_vec());
            buf.clone_from(&none);
            let mut part = ViewMut::new(&mut buf, &shape)?;
            world.scope(|scope| {
                let _ = scope.send(&view, right, 1)?;
                assert_eq!(scope.recv(&mut part, left, 1)?.wait()?.elements(), indices.len());
                Ok(())
            })?;
            assert_eq!(buf, expected);
            let send = world.send_init(ViewVec::new(mine.clone(), &shape)?, right, 2)?;
            let recv = world.recv_init(ViewVec::new(none.clone(), &shape)?, left, 2)?;
            let (recv, _) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
            assert_eq!(recv.buf(), expected);
        }
        Ok(())
    });
}

#[test]
fn views_are_combined_and_gathered() {
    on_ranks("views::views_are_combined_and_gathered", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        for (shape, indices) in shapes() {
            let mine: Vec<usize> = (0..24).map(|index| index + rank).collect();
            let mut expected = vec![7; 24];
            let ranks: usize = (0..size).sum();
            indices.iter().for_each(|&index| expected[index] = index * size + ranks);
            let mut sums = vec![7; 24];
            world.allreduce(&View::new(&mine, &shape)?, &mut ViewMut::new(&mut sums, &shape)?, &Op::SUM)?;
            assert_eq!(sums, expected);
            let request = world.allreduce_init(
                ViewVec::new(mine.clone(), &shape)?,
                ViewVec::new(vec![7; 24], &shape)?,
                &Op::SUM,
            )?;
            assert_eq!(request.start()?.wait()?.recv_buf(), expected);
            let mut all = vec![0; indices.len() * size];
            world.allgather(&View::new(&mine, &shape)?, &mut all)?;
            assert!(
                all.iter()
                    .copied()
                    .eq((0..size).flat_map(|rank| indices.iter().map(move |index| index + rank)))
            );
        }
        Ok(())
    });
}

#[test]
fn what_does_not_lie_in_its_slice_is_no_view() {
    let class = |shape: Shape, len: usize| -> Option<ErrorClass> {
        let slice = vec![0_u8; len];
        let read: Result<_> = View::new(&slice, &shape).map(drop);
        read.err().map(|error| error.class())
    };
    for (shape, len) in [
        (Shape::strided(3, 1, 4), 8),
        (Shape::strided(2, 5, 4), 8),
        (Shape::strided(usize::MAX, 2, usize::MAX), 8),
        (Shape::strided(usize::MAX, 1, 0), 8),
        (Shape::indexed([0..3, 7..9]), 8),
        (Shape::subarray([2, 4], [0..2, 0..4]), 9),
        (Shape::subarray([2, 4], [0..3, 0..4]), 8),
        (Shape::subarray([usize::MAX, usize::MAX], [0..1, 0..1]), 1),
        (Shape::subarray([], []), 1),
    ] {
        assert_eq!(class(shape.clone(), len), Some(ErrorClass::Arg), "{shape:?} of {len}");
    }
    #[expect(
        clippy::reversed_empty_ranges,
        clippy::single_range_in_vec_init,
        reason = "such a range is refused"
    )]
    let reversed = Shape::indexed([3..2]);
    assert_eq!(class(reversed, 8), Some(ErrorClass::Arg));
    assert_eq!(class(Shape::strided(1, 4, usize::MAX), 8), None, "one block is where it begins");
}

#[test]
fn what_has_more_elements_than_can_be_counted_is_no_view() {
    let many = [(); usize::MAX];
    let all = 0..many.len();
    for shape in [
        Shape::strided(usize::MAX, 1, 1),
        Shape::range(all.clone()),
        Shape::indexed([all.clone(), all.clone()]),
        Shape::subarray([usize::MAX], [all]),
    ] {
        let error = View::new(&many, &shape).map(drop).expect_err("too many");
        assert_eq!(error.class(), ErrorClass::Arg, "{shape:?}");
    }
}

#[test]
fn what_has_an_element_twice_is_not_received_into() {
    for twice in [Shape::strided(2, 3, 2), Shape::strided(2, 1, 0), Shape::indexed([4..6, 0..1, 2..5])] {
        let (slice, mut target) = (vec![0; 8], vec![0; 8]);
        assert!(View::new(&slice, &twice).is_ok());
        let error = ViewMut::new(&mut target, &twice).map(drop).expect_err("an element is there twice");
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(ViewVec::new(target, &twice).is_err());
    }
}

#[test]
fn views_of_no_elements_may_be_of_any_shape() {
    let (many, most) = (1 << 40, usize::MAX);
    for nothing in [
        Shape::strided(most, 0, 1),
        Shape::strided(many, 0, 1),
        Shape::strided(3, 0, most),
        Shape::strided(0, most, most),
        Shape::indexed(vec![0..0; 3]),
        Shape::subarray([0, many, many], [0..0, 0..many, 0..many]),
    ] {
        let mut slice = [0_u8; 0];
        let views = ViewMut::disjoint(&mut slice, [&nothing, &nothing]).expect("they have nothing in common");
        assert_eq!(views.map(|view| view.to_vec()), [[], []], "{nothing:?}");
    }
    let mut slice = [1, 2, 3, 4];
    let shapes = [&Shape::strided(most, 0, 1), &Shape::strided(2, 1, 2), &Shape::strided(3, 0, most)];
    let views = ViewMut::disjoint(&mut slice, shapes).expect("they have nothing in common");
    assert_eq!(views.map(|view| view.to_vec()), [vec![], vec![1, 3], vec![]]);
}

#[test]
fn views_of_elements_without_a_size_may_have_any_number() {
    let many = 1 << 40;
    let mut slice = vec![(); 2 * many];
    for shape in
        [Shape::strided(many, 1, 1), Shape::strided(many, 1, 2), Shape::subarray([many, 2], [0..many, 1..2])]
    {
        let [one, other] =
            ViewMut::disjoint(&mut slice, [&shape, &shape]).expect("they have no byte in common");
        assert_eq!((one.elements(), other.elements()), (many, many), "{shape:?}");
    }
}
