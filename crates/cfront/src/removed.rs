//! Functions that MPI-3.0 removed, and that have no successor with the same arguments.

use std::ffi::c_int;

use oxmpi_base::Function;
use oxmpi_datatype::Datatype;

use crate::argument::Out;
use crate::failure::at_any_time;
use crate::generated::types::{MPI_Aint, MPI_Datatype};
use crate::object::datatype;

/// `MPI_Type_extent`.
pub fn type_extent(function: Function, datatype: MPI_Datatype, extent: Out<MPI_Aint>) -> c_int {
    bound(function, datatype, ("extent", extent), Datatype::extent)
}

/// `MPI_Type_lb`.
pub fn type_lb(function: Function, datatype: MPI_Datatype, displacement: Out<MPI_Aint>) -> c_int {
    bound(function, datatype, ("displacement", displacement), Datatype::lower_bound)
}

/// `MPI_Type_ub`.
pub fn type_ub(function: Function, datatype: MPI_Datatype, displacement: Out<MPI_Aint>) -> c_int {
    let upper = |datatype: &Datatype| datatype.lower_bound() + datatype.extent();
    bound(function, datatype, ("displacement", displacement), upper)
}

fn bound(
    function: Function,
    datatype: MPI_Datatype,
    (argument, output): (&str, Out<MPI_Aint>),
    which: impl FnOnce(&Datatype) -> i64,
) -> c_int {
    at_any_time(function, || {
        let datatype = datatype::find("datatype", datatype)?;
        output.named(argument)?.set(which(&datatype) as MPI_Aint);
        Ok(())
    })
}
