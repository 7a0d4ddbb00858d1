//! Cartesian grids: a rank is a place, and the last coordinate runs fastest.
//!
//! Takes memory for its dimensions, not for its ranks; each question is answered in as many steps as there are
//! dimensions, a shift in one. A grid without dimensions has one place; one with a dimension of no length has none, and
//! no communicator.
//! MPI-5.0: Virtual Topologies for MPI Processes, Cartesian Constructor; Cartesian Shift; Partitioning.

use oxmpi_base::{Error, ErrorClass, Result};

/// A grid of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartesian {
    axes: Box<[Axis]>,
    size: u32,
}

/// One dimension of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of coordinates, from 0.
    pub size: u32,
    /// Whether the first coordinate follows the last.
    pub periodic: bool,
    /// By how much the rank grows with the coordinate.
    stride: u32,
}

/// The subgrid that a rank is in, of those that a grid falls into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subgrid {
    /// The dimensions that remain.
    pub grid: Cartesian,
    /// Which of the subgrids it is.
    pub index: u32,
    /// The rank's rank in it.
    pub rank: u32,
}

impl Axis {
    fn coordinate(&self, rank: u32) -> u32 {
        rank / self.stride % self.size
    }

    /// The coordinate that `coordinate` means, if it is in the grid.
    fn wrap(&self, coordinate: i64) -> Option<u32> {
        let size = i64::from(self.size);
        let wrapped = if self.periodic { coordinate.rem_euclid(size) } else { coordinate };
        u32::try_from(wrapped).ok().filter(|&inside| inside < self.size)
    }
}

impl Cartesian {
    /// The grid with these dimensions, which are periodic or not.
    ///
    /// # Errors
    /// `Dims` if a dimension is negative, or there are more places than a communicator can have ranks.
    pub fn new(dims: &[i32], periodic: &[bool]) -> Result<Self> {
        let axis = |(index, (&dim, &periodic)): (usize, (&i32, &bool))| match u32::try_from(dim) {
            Ok(size) => Ok(Axis { size, periodic, stride: 1 }),
            Err(_) => Err(Error::new(ErrorClass::Dims, format!("dims[{index}] is {dim}"))),
        };
        Self::of(dims.iter().zip(periodic).enumerate().map(axis).collect::<Result<_>>()?)
    }

    /// The grid of `axes`, whose strides are not known yet.
    fn of(mut axes: Box<[Axis]>) -> Result<Self> {
        let mut size = 1;
        for axis in axes.iter_mut().rev() {
            axis.stride = size;
            size =
                size.checked_mul(axis.size).filter(|&size| i32::try_from(size).is_ok()).ok_or_else(|| {
                    Error::new(
                        ErrorClass::Dims,
                        "dims: the grid has more places than any communicator has ranks",
                    )
                })?;
        }
        Ok(Self { axes, size })
    }

    /// Number of places.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The dimensions.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The coordinates of a rank.
    ///
    /// # Errors
    /// `Rank` if it is none of the grid.
    pub fn coordinates(&self, rank: i32) -> Result<impl Iterator<Item = u32>> {
        let place = u32::try_from(rank).ok().filter(|&place| place < self.size).ok_or_else(|| {
            let size = self.size;
            Error::new(ErrorClass::Rank, format!("rank {rank} is not in the grid, which has {size} places"))
        })?;
        Ok(self.axes.iter().map(move |axis| axis.coordinate(place)))
    }

    /// The rank at `coordinates`, of which there is one for each dimension. Those of periodic dimensions wrap.
    ///
    /// # Errors
    /// `Arg` if one is outside a dimension that is not periodic.
    pub fn rank(&self, coordinates: &[i32]) -> Result<u32> {
        let axes = self.axes.iter().zip(coordinates).enumerate();
        let places = axes.map(|(index, (axis, &coordinate))| {
            axis.wrap(i64::from(coordinate)).map(|inside| inside * axis.stride).ok_or_else(|| {
                let size = axis.size;
                let text =
                    format!("coords[{index}] is {coordinate}, outside a dimension of {size}, not periodic");
                Error::new(ErrorClass::Arg, text)
            })
        });
        places.sum()
    }

    /// The ranks `displacement` steps before and after `rank` along a dimension: whom it receives from and sends
    /// to when all data are shifted by that. `None` is over an edge.
    ///
    /// # Errors
    /// `Arg` if there is no such dimension.
    pub fn shift(&self, rank: u32, direction: i32, displacement: i32) -> Result<[Option<u32>; 2]> {
        let axis = usize::try_from(direction).ok().and_then(|direction| self.axes.get(direction));
        let axis = axis.ok_or_else(|| {
            let dims = self.axes.len();
            Error::new(
                ErrorClass::Arg,
                format!("direction is {direction}, but the grid has {dims} dimensions"),
            )
        })?;
        let (here, displacement) = (axis.coordinate(rank), i64::from(displacement));
        let base = rank - here * axis.stride;
        let at = |coordinate| axis.wrap(coordinate).map(|inside| base + inside * axis.stride);
        Ok([at(i64::from(here) - displacement), at(i64::from(here) + displacement)])
    }

    /// The neighbours of `rank`: for each dimension the one before it and the one after it.
    pub fn neighbors(&self, rank: u32) -> impl Iterator<Item = Option<u32>> {
        let along = move |axis: &Axis| {
            let here = axis.coordinate(rank);
            let base = rank - here * axis.stride;
            let stride = axis.stride;
            [-1, 1].map(|step| axis.wrap(i64::from(here) + step).map(|inside| base + inside * stride))
        };
        self.axes.iter().flat_map(along)
    }

    /// The subgrid of `rank` when only those dimensions remain for which `remains` is set.
    pub fn subgrid(&self, remains: &[bool], rank: u32) -> Subgrid {
        let kept = self.axes.iter().zip(remains).filter(|&(_, &remains)| remains).map(|(axis, _)| *axis);
        let grid = Self::of(kept.collect()).expect("a part is not larger than the whole");
        let place = |wanted| {
            let axes = self.axes.iter().zip(remains).filter(move |&(_, &remains)| remains == wanted);
            axes.fold(0, |place, (axis, _)| place * axis.size + axis.coordinate(rank))
        };
        Subgrid { grid, index: place(false), rank: place(true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[i32], periodic: &[bool]) -> Cartesian {
        Cartesian::new(dims, periodic).expect("a legal grid")
    }

    #[test]
    fn the_last_coordinate_runs_fastest() {
        let grid = grid(&[2, 3, 4], &[false; 3]);
        assert_eq!(grid.size(), 24);
        let mut expected = 0;
        for x in 0..2 {
            for y in 0..3 {
                for z in 0..4 {
                    assert_eq!(grid.rank(&[x, y, z]).expect("inside"), expected);
                    let found = grid.coordinates(expected.cast_signed()).expect("inside");
                    assert!(found.eq([x, y, z].map(i32::cast_unsigned)));
                    expected += 1;
                }
            }
        }
    }

    #[test]
    fn coordinates_wrap_where_the_grid_is_periodic_and_are_errors_elsewhere() {
        let grid = grid(&[3, 4], &[true, false]);
        for (coordinates, rank) in [([-1, 2], 10), ([3, 0], 0), ([i32::MAX, 1], 5), ([i32::MIN, 1], 5)] {
            assert_eq!(grid.rank(&coordinates).expect("wraps"), rank, "{coordinates:?}");
        }
        for outside in [[0, -1], [0, 4]] {
            assert_eq!(grid.rank(&outside).expect_err("outside").class(), ErrorClass::Arg);
        }
        for rank in [-1, 12] {
            assert_eq!(grid.coordinates(rank).err().expect("outside").class(), ErrorClass::Rank);
        }
    }

    #[test]
    fn a_shift_ends_at_edges_and_goes_around_periods() {
        let grid = grid(&[3, 4], &[true, false]);
        let shift = |rank, direction, by| grid.shift(rank, direction, by).expect("a direction");
        assert_eq!(shift(1, 0, 1), [Some(9), Some(5)]);
        assert_eq!(shift(1, 0, -4), [Some(5), Some(9)]);
        assert_eq!(shift(1, 0, i32::MIN), [Some(9), Some(5)]);
        assert_eq!(shift(4, 1, 1), [None, Some(5)]);
        assert_eq!(shift(4, 1, -3), [Some(7), None]);
        assert_eq!(shift(6, 1, i32::MAX), [None, None]);
        assert_eq!(shift(6, 1, 0), [Some(6), Some(6)]);
        for direction in [-1, 2] {
            assert_eq!(grid.shift(0, direction, 1).expect_err("none").class(), ErrorClass::Arg);
        }
    }

    #[test]
    fn a_grid_without_dimensions_has_one_place_and_no_direction() {
        let point = grid(&[], &[]);
        assert_eq!((point.size(), point.rank(&[]).expect("the place")), (1, 0));
        assert_eq!(point.coordinates(0).expect("the place").count(), 0);
        assert_eq!(point.shift(0, 0, 1).expect_err("no direction").class(), ErrorClass::Arg);
        assert_eq!(point.subgrid(&[], 0), Subgrid { grid: point.clone(), index: 0, rank: 0 });
    }

    #[test]
    fn a_dimension_of_no_length_leaves_no_place() {
        let nothing = grid(&[2, 0], &[false; 2]);
        assert_eq!(nothing.size(), 0);
        assert_eq!(nothing.coordinates(0).err().expect("no place").class(), ErrorClass::Rank);
    }

    #[test]
    fn dimensions_that_are_no_grid_are_refused() {
        for dims in [[0, -1], [2, -1], [1 << 16, 1 << 15], [i32::MAX, i32::MAX]] {
            assert_eq!(Cartesian::new(&dims, &[false; 2]).expect_err("no grid").class(), ErrorClass::Dims);
        }
    }

    #[test]
    fn subgrids_share_the_coordinates_of_the_dimensions_that_went() {
        let whole = grid(&[2, 3, 4], &[true, false, true]);
        for rank in 0..24 {
            let [x, y, z] = [rank / 12, rank / 4 % 3, rank % 4];
            let part = whole.subgrid(&[true, false, true], rank);
            assert_eq!(part.grid, grid(&[2, 4], &[true, true]));
            assert_eq!((part.index, part.rank), (y, x * 4 + z));
            assert_eq!(whole.subgrid(&[true; 3], rank), Subgrid { grid: whole.clone(), index: 0, rank });
            let place = Subgrid { grid: grid(&[], &[]), index: rank, rank: 0 };
            assert_eq!(whole.subgrid(&[false; 3], rank), place);
        }
    }
}
