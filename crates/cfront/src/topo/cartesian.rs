//! Cartesian topologies.
//!
//! MPI-5.0: Virtual Topologies for MPI Processes, Cartesian Constructor; Topology Inquiry Functions.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Cartesian, balanced_dims};

use crate::failure::in_process;
use crate::generated::constants::{MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::MPI_Comm;
use crate::object::comm::reserved::{adopt, adopt_any};
use crate::object::comm::{on_comm, on_comm_called};
use crate::pointer::{Array, Out};

/// An array with an item for each dimension.
///
/// # Safety
/// As for [`Array::new`].
unsafe fn dimensions(argument: &str, base: *const c_int, ndims: c_int) -> Result<Array<c_int>> {
    if ndims < 0 {
        return Err(Error::new(ErrorClass::Dims, format!("ndims is {ndims}")));
    }
    // SAFETY: the caller's promise.
    unsafe { Array::new(argument, base.cast_mut(), ndims) }
}

/// The grid that the arguments describe.
///
/// # Safety
/// Arrays that are not null are valid for reads of `ndims` items.
unsafe fn grid(ndims: c_int, dims: *const c_int, periods: *const c_int) -> Result<Cartesian> {
    // SAFETY: the caller's promise.
    let dims = unsafe { dimensions("dims", dims, ndims) }?;
    // SAFETY: the caller's promise.
    let periods = unsafe { dimensions("periods", periods, ndims) }?;
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
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_create(
    function: Function,
    comm_old: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    _reorder: c_int,
    comm_cart: *mut MPI_Comm,
) -> c_int {
    on_comm_called("comm_old", function, comm_old, |process, comm| {
        // SAFETY: the caller's promise.
        let grid = unsafe { grid(ndims, dims, periods) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("comm_cart", comm_cart) }?;
        out.set(adopt_any(process.cart_create(&comm.core, grid)?, comm));
        Ok(())
    })
}

/// `MPI_Cart_map`: the rank that `MPI_Cart_create` would give.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_map(
    function: Function,
    comm: MPI_Comm,
    ndims: c_int,
    dims: *const c_int,
    periods: *const c_int,
    newrank: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        let grid = unsafe { grid(ndims, dims, periods) }?;
        let place = comm.core.cart_map(&grid)?.map_or(MPI_UNDEFINED, u32::cast_signed);
        // SAFETY: the caller's promise.
        unsafe { Out::new("newrank", newrank) }?.set(place);
        Ok(())
    })
}

/// `MPI_Cart_sub`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_sub(
    function: Function,
    comm: MPI_Comm,
    remain_dims: *const c_int,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let grid = comm.core.cartesian()?;
        // SAFETY: the caller's promise.
        let remains = unsafe { Array::new("remain_dims", remain_dims.cast_mut(), ndims(grid)) }?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        out.set(adopt(process.cart_sub(&comm.core, &logicals(remains))?, comm));
        Ok(())
    })
}

/// `MPI_Cartdim_get`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cartdim_get(function: Function, comm: MPI_Comm, number: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("ndims", number) }?.set(ndims(grid));
        Ok(())
    })
}

/// `MPI_Cart_get`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_get(
    function: Function,
    comm: MPI_Comm,
    maxdims: c_int,
    dims: *mut c_int,
    periods: *mut c_int,
    coords: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        let axes = grid.axes();
        // SAFETY: the caller's promise.
        let dims = unsafe { Array::with_room("dims", dims, ("maxdims", maxdims), axes.len()) }?;
        // SAFETY: the caller's promise.
        let periods = unsafe { Array::with_room("periods", periods, ("maxdims", maxdims), axes.len()) }?;
        // SAFETY: the caller's promise.
        let coords = unsafe { Array::with_room("coords", coords, ("maxdims", maxdims), axes.len()) }?;
        dims.fill(axes.iter().map(|axis| axis.size.cast_signed()));
        periods.fill(axes.iter().map(|axis| c_int::from(axis.periodic)));
        let coordinates = grid.coordinates(comm.core.rank().cast_signed())?;
        coords.fill(coordinates.map(u32::cast_signed));
        Ok(())
    })
}

/// `MPI_Cart_rank`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_rank(function: Function, comm: MPI_Comm, coords: *const c_int, rank: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        // SAFETY: the caller's promise.
        let coords = unsafe { Array::new("coords", coords.cast_mut(), ndims(grid)) }?;
        let place = grid.rank(&coords.iter().collect::<Vec<_>>())?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("rank", rank) }?.set(place.cast_signed());
        Ok(())
    })
}

/// `MPI_Cart_coords`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_coords(
    function: Function,
    comm: MPI_Comm,
    rank: c_int,
    maxdims: c_int,
    coords: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let grid = comm.core.cartesian()?;
        let coordinates = grid.coordinates(rank)?;
        // SAFETY: the caller's promise.
        let coords = unsafe { Array::with_room("coords", coords, ("maxdims", maxdims), grid.axes().len()) }?;
        coords.fill(coordinates.map(u32::cast_signed));
        Ok(())
    })
}

/// `MPI_Cart_shift`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn cart_shift(
    function: Function,
    comm: MPI_Comm,
    direction: c_int,
    disp: c_int,
    rank_source: *mut c_int,
    rank_dest: *mut c_int,
) -> c_int {
    on_comm(function, comm, |_, comm| {
        let shifted = comm.core.cartesian()?.shift(comm.core.rank(), direction, disp)?;
        let [source, dest] = shifted.map(|rank| rank.map_or(MPI_PROC_NULL, u32::cast_signed));
        // SAFETY: the caller's promise.
        let source_out = unsafe { Out::new("rank_source", rank_source) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("rank_dest", rank_dest) }?.set(dest);
        source_out.set(source);
        Ok(())
    })
}

/// `MPI_Dims_create`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn dims_create(function: Function, nnodes: c_int, ndims: c_int, dims: *mut c_int) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        let dims = unsafe { dimensions("dims", dims, ndims) }?;
        dims.fill(balanced_dims(nnodes, &dims.iter().collect::<Vec<_>>())?);
        Ok(())
    })
}
