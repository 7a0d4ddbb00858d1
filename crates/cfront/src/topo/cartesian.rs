//! Cartesian topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Cartesian Constructor; Topology Inquiry Functions.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Cartesian, balanced_dims};

use crate::argument::{Array, ArrayArgument, ArrayIn, ArrayInOut, ArrayOut, Out, Unmeasured};
use crate::failure::in_process;
use crate::generated::constants::{MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::MPI_Comm;
use crate::object::comm::reserved::{adopt, adopt_any};
use crate::object::comm::{on_comm, on_comm_called};

/// An array with an item for each dimension.
fn dimensions<M>(argument: &str, array: ArrayArgument<c_int, M>, ndims: c_int) -> Result<Array<c_int, M>> {
    if ndims < 0 {
        return Err(Error::new(ErrorClass::Dims, format!("ndims is {ndims}")));
    }
    array.named(argument)
}

/// The grid that the arguments describe.
fn grid(ndims: c_int, dims: ArrayIn<c_int>, periods: ArrayIn<c_int>) -> Result<Cartesian> {
    let dims = dimensions("dims", dims, ndims)?;
    let periods = dimensions("periods", periods, ndims)?;
    Cartesian::new(&dims.iter().collect::<Vec<_>>(), &logicals(periods))
}

fn logicals(array: Array<c_int>) -> Vec<bool> {
    array.iter().map(|logical| logical != 0).collect()
}

/// Number of dimensions, as C has it.
fn ndims(grid: &Cartesian) -> c_int {
    grid.axes().len() as c_int
}

/// `MPI_Cart_create`; the ranks stay as they are.
pub fn cart_create(
    function: Function,
    comm_old: MPI_Comm,
    ndims: c_int,
    dims: ArrayIn<c_int>,
    periods: ArrayIn<c_int>,
    _reorder: c_int,
    comm_cart: Out<MPI_Comm>,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        let grid = grid(ndims, dims, periods)?;
        let out = comm_cart.named("comm_cart")?;
        out.set(adopt_any(process.cart_create(&comm.core, grid)?, comm));
        Ok(())
    })
}

/// `MPI_Cart_map`: the rank that `MPI_Cart_create` would give.
pub fn cart_map(
    function: Function,
    comm: MPI_Comm,
    ndims: c_int,
    dims: ArrayIn<c_int>,
    periods: ArrayIn<c_int>,
    newrank: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = grid(ndims, dims, periods)?;
        let place = comm.core.cart_map(&grid)?.map_or(MPI_UNDEFINED, u32::cast_signed);
        newrank.named("newrank")?.set(place);
        Ok(())
    })
}

/// `MPI_Cart_sub`.
pub fn cart_sub(
    function: Function,
    comm: MPI_Comm,
    remain_dims: Unmeasured<c_int>,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let grid = comm.core.cartesian()?;
        // SAFETY: the standard: an item for each dimension of the grid.
        let remains = unsafe { remain_dims.of_len(ndims(grid)) }.named("remain_dims")?;
        let out = newcomm.named("newcomm")?;
        out.set(adopt(process.cart_sub(&comm.core, &logicals(remains))?, comm));
        Ok(())
    })
}

/// `MPI_Cartdim_get`.
pub fn cartdim_get(function: Function, comm: MPI_Comm, number: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        number.named("ndims")?.set(ndims(grid));
        Ok(())
    })
}

/// `MPI_Cart_get`.
pub fn cart_get(
    function: Function,
    comm: MPI_Comm,
    _maxdims: c_int,
    dims: ArrayOut<c_int>,
    periods: ArrayOut<c_int>,
    coords: ArrayOut<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        let axes = grid.axes();
        let dims = dims.with_room("dims", "maxdims", axes.len())?;
        let periods = periods.with_room("periods", "maxdims", axes.len())?;
        let coords = coords.with_room("coords", "maxdims", axes.len())?;
        dims.fill(axes.iter().map(|axis| axis.size.cast_signed()));
        periods.fill(axes.iter().map(|axis| c_int::from(axis.periodic)));
        let coordinates = grid.coordinates(comm.core.rank().cast_signed())?;
        coords.fill(coordinates.map(u32::cast_signed));
        Ok(())
    })
}

/// `MPI_Cart_rank`.
pub fn cart_rank(function: Function, comm: MPI_Comm, coords: Unmeasured<c_int>, rank: Out<c_int>) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        // SAFETY: the standard: an item for each dimension of the grid.
        let coords = unsafe { coords.of_len(ndims(grid)) }.named("coords")?;
        let place = grid.rank(&coords.iter().collect::<Vec<_>>())?;
        rank.named("rank")?.set(place.cast_signed());
        Ok(())
    })
}

/// `MPI_Cart_coords`.
pub fn cart_coords(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    _maxdims: c_int,
    coords: ArrayOut<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        let coordinates = grid.coordinates(rank)?;
        let coords = coords.with_room("coords", "maxdims", grid.axes().len())?;
        coords.fill(coordinates.map(u32::cast_signed));
        Ok(())
    })
}

/// `MPI_Cart_shift`.
pub fn cart_shift(
    function: Function,
    comm: MPI_Comm,
    direction: c_int,
    disp: c_int,
    rank_source: Out<c_int>,
    rank_dest: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let shifted = comm.core.cartesian()?.shift(comm.core.rank(), direction, disp)?;
        let [source, dest] = shifted.map(|rank| rank.map_or(MPI_PROC_NULL, u32::cast_signed));
        let source_out = rank_source.named("rank_source")?;
        rank_dest.named("rank_dest")?.set(dest);
        source_out.set(source);
        Ok(())
    })
}

/// `MPI_Dims_create`.
pub fn dims_create(function: Function, nnodes: c_int, ndims: c_int, dims: ArrayInOut<c_int>) -> c_int {
    in_process(function, |_| {
        let dims = dimensions("dims", dims, ndims)?;
        dims.fill(balanced_dims(nnodes, &dims.iter().collect::<Vec<_>>())?);
        Ok(())
    })
}
