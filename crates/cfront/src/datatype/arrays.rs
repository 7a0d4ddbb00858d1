//! The constructors of parts of arrays.
//!
//! MPI-5.0: Datatypes, Subarray Datatype Constructor, Distributed Array Datatype Constructor.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::{Darray, Datatype, Distribution, Order, Subarray};

use super::derive::derive;
use crate::argument::{ArrayIn, Integers, Out};
use crate::generated::constants::{
    MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_NONE, MPI_ORDER_C,
    MPI_ORDER_FORTRAN,
};
use crate::generated::types::MPI_Datatype;

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
pub fn type_create_subarray(
    function: Function,
    ndims: c_int,
    array_of_sizes: Integers,
    array_of_subsizes: Integers,
    array_of_starts: Integers,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let constructor = |old: &Datatype| {
        check_dimensions(ndims)?;
        let sizes = array_of_sizes.named("array_of_sizes")?.to_vec();
        let subsizes = array_of_subsizes.named("array_of_subsizes")?.to_vec();
        let starts = array_of_starts.named("array_of_starts")?.to_vec();
        Datatype::subarray(Subarray { sizes, subsizes, starts, order: order_of(order)? }, old)
    };
    derive(function, oldtype, newtype, constructor)
}

/// `MPI_Type_create_darray` and its large-count form.
pub fn type_create_darray(
    function: Function,
    size: c_int,
    rank: c_int,
    ndims: c_int,
    array_of_gsizes: Integers,
    array_of_distribs: ArrayIn<c_int>,
    array_of_dargs: ArrayIn<c_int>,
    array_of_psizes: ArrayIn<c_int>,
    order: c_int,
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
) -> c_int {
    let (size, rank) = (size.into(), rank.into());
    let constructor = |old: &Datatype| {
        check_dimensions(ndims)?;
        let gsizes = array_of_gsizes.named("array_of_gsizes")?.to_vec();
        let distributions = array_of_distribs.named("array_of_distribs")?;
        let distributions = distributions.iter().enumerate().map(distribution_of).collect::<Result<_>>()?;
        let given = |darg: c_int| (darg != MPI_DISTRIBUTE_DFLT_DARG).then_some(darg.into());
        let dargs = array_of_dargs.named("array_of_dargs")?.iter().map(given).collect();
        let psizes = array_of_psizes.named("array_of_psizes")?.iter().map(i64::from).collect();
        let order = order_of(order)?;
        Datatype::darray(Darray { size, rank, gsizes, distributions, dargs, psizes, order }, old)
    };
    derive(function, oldtype, newtype, constructor)
}
