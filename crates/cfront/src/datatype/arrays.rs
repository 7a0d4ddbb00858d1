//! The constructors of parts of arrays.
//!
//! MPI-5.0: Datatypes, Subarray Datatype Constructor, Distributed Array Datatype Constructor.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::{Darray, Datatype, Distribution, Order, Subarray};

use super::derive::derive;
use crate::boundary::Integers;
use crate::generated::constants::{
    MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_NONE, MPI_ORDER_C,
    MPI_ORDER_FORTRAN,
};
use crate::generated::types::MPI_Datatype;
use crate::pointer::Array;

/// The constant of an order.
pub(super) const fn order_constant(order: Order) -> c_int {
    match order {
        Order::C => MPI_ORDER_C,
        Order::Fortran => MPI_ORDER_FORTRAN,
    }
}

/// The constant of a distribution.
pub(super) const fn distribution_constant(distribution: Distribution) -> c_int {
    match distribution {
        Distribution::Block => MPI_DISTRIBUTE_BLOCK,
        Distribution::Cyclic => MPI_DISTRIBUTE_CYCLIC,
        Distribution::None => MPI_DISTRIBUTE_NONE,
    }
}

fn order_of(order: c_int) -> Result<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => {
            let text = format!("order is {order}, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
            Err(Error::new(ErrorClass::Arg, text))
        }
    }
}

fn distribution_of((dimension, distribution): (usize, c_int)) -> Result<Distribution> {
    match distribution {
        MPI_DISTRIBUTE_BLOCK => Ok(Distribution::Block),
        MPI_DISTRIBUTE_CYCLIC => Ok(Distribution::Cyclic),
        MPI_DISTRIBUTE_NONE => Ok(Distribution::None),
        _ => {
            let text = format!("array_of_distribs[{dimension}] is {distribution}, which is no distribution");
            Err(Error::new(ErrorClass::Arg, text))
        }
    }
}

/// Refuses arrays of no dimensions.
fn check_dimensions(ndims: c_int) -> Result<()> {
    if ndims > 0 { Ok(()) } else { Err(Error::new(ErrorClass::Arg, format!("ndims is {ndims}"))) }
}

/// `MPI_Type_create_subarray` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_subarray(
    function: Function,
    ndims: c_int,
    array_of_sizes: Integers,
    array_of_subsizes: Integers,
    array_of_starts: Integers,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let constructor = |old: &Datatype| {
        check_dimensions(ndims)?;
        // SAFETY: the caller's promise.
        let sizes = unsafe { array_of_sizes.array("array_of_sizes", ndims) }?.to_vec();
        // SAFETY: the caller's promise.
        let subsizes = unsafe { array_of_subsizes.array("array_of_subsizes", ndims) }?.to_vec();
        // SAFETY: the caller's promise.
        let starts = unsafe { array_of_starts.array("array_of_starts", ndims) }?.to_vec();
        Datatype::subarray(Subarray { sizes, subsizes, starts, order: order_of(order)? }, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}

/// `MPI_Type_create_darray` and its large-count form.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn type_create_darray(
    function: Function,
    size: c_int,
    rank: c_int,
    ndims: c_int,
    array_of_gsizes: Integers,
    array_of_distribs: *const c_int,
    array_of_dargs: *const c_int,
    array_of_psizes: *const c_int,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: *mut MPI_Datatype,
) -> c_int {
    let (size, rank) = (size.into(), rank.into());
    let constructor = |old: &Datatype| {
        check_dimensions(ndims)?;
        let read = |argument, array: *const c_int| {
            // SAFETY: the caller's promise; nothing is written.
            unsafe { Array::new(argument, array.cast_mut(), ndims) }
        };
        // SAFETY: the caller's promise.
        let gsizes = unsafe { array_of_gsizes.array("array_of_gsizes", ndims) }?.to_vec();
        let distributions = read("array_of_distribs", array_of_distribs)?;
        let distributions = distributions.iter().enumerate().map(distribution_of).collect::<Result<_>>()?;
        let given = |darg: c_int| (darg != MPI_DISTRIBUTE_DFLT_DARG).then_some(darg.into());
        let dargs = read("array_of_dargs", array_of_dargs)?.iter().map(given).collect();
        let psizes = read("array_of_psizes", array_of_psizes)?.iter().map(i64::from).collect();
        let order = order_of(order)?;
        Datatype::darray(Darray { size, rank, gsizes, distributions, dargs, psizes, order }, old)
    };
    // SAFETY: the caller's promise.
    unsafe { derive(function, oldtype, newtype, constructor) }
}
