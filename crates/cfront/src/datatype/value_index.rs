//! Pairs of a value and an index, by what they consist of: the elements of `MPI_MINLOC` and `MPI_MAXLOC`.
//!
//! Some have a name in the standard. Of the others there is every one that the operations can combine.
//! MPI-5.0: Collective Communication, MINLOC and MAXLOC.

use std::ffi::c_int;

use oxmpi_base::{BasicType, Function, ReduceOp};
use oxmpi_datatype::Datatype;
use oxmpi_op::Reducer;

use super::unnamed;
use crate::argument::Out;
use crate::failure::at_any_time;
use crate::generated::constants::MPI_DATATYPE_NULL;
use crate::generated::types::MPI_Datatype;
use crate::handle::Handle as _;
use crate::object::datatype::find;
use crate::process;

/// The pair of these, or `MPI_DATATYPE_NULL`.
fn pair_of(value: BasicType, index: BasicType) -> MPI_Datatype {
    if let Some(pair) = BasicType::pair_of(value, index) {
        return MPI_Datatype::from_word(pair.abi() as usize);
    }
    match Reducer::on_pairs(ReduceOp::Minloc, [value, index]) {
        Ok(_) => unnamed::handle_of(Datatype::value_index(value, index)),
        Err(_) => MPI_DATATYPE_NULL,
    }
}

/// `MPI_Type_get_value_index`.
pub fn type_get_value_index(
    function: Function,
    value_type: MPI_Datatype,
    index_type: MPI_Datatype,
    pair_type: Out<MPI_Datatype>,
) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let value = find("value_type", value_type)?;
        let index = find("index_type", index_type)?;
        let pair_type = pair_type.named("pair_type")?;
        pair_type.set(match (value.basic_type(), index.basic_type()) {
            (Some(value), Some(index)) => pair_of(value, index),
            _ => MPI_DATATYPE_NULL,
        });
        Ok(())
    })
}
