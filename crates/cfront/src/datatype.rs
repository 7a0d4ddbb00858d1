//! Datatypes: what they are asked, and their constructors.
//!
//! MPI-5.0: Datatypes, Derived Datatypes; Language Bindings, Support for Size-Specific MPI Datatypes.

mod arrays;
mod contents;
mod derive;
mod f90;
mod indexed;
mod match_size;
mod unnamed;
mod value_index;

use std::ffi::{OsStr, c_int, c_void};
use std::os::unix::ffi::OsStrExt;

use oxmpi_base::Function;

pub use self::arrays::{type_create_darray, type_create_subarray};
pub use self::contents::{type_get_contents, type_get_contents_c, type_get_envelope, type_get_envelope_c};
pub use self::derive::{
    type_contiguous, type_create_hvector, type_create_resized, type_dup, type_free, type_vector,
};
pub use self::f90::{type_create_f90_complex, type_create_f90_integer, type_create_f90_real};
pub use self::indexed::{
    type_create_hindexed, type_create_hindexed_block, type_create_indexed_block, type_create_struct,
    type_indexed,
};
pub use self::match_size::type_match_size;
pub use self::value_index::type_get_value_index;
use crate::argument::{InOut, IntegerOut, Out, TextIn, TextOut};
use crate::failure::at_any_time;
use crate::generated::constants::MPI_DATATYPE_NULL;
use crate::generated::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::object::datatype::find;

/// `MPI_Type_commit`.
pub fn type_commit(function: Function, datatype: InOut<MPI_Datatype>) -> c_int {
    at_any_time(function, || {
        let handle = datatype.named("datatype")?.get();
        find("datatype", handle)?.commit();
        Ok(())
    })
}

/// `MPI_Type_size` and its large-count form.
pub fn type_size(function: Function, datatype: MPI_Datatype, size: IntegerOut) -> c_int {
    at_any_time(function, || {
        let bytes = find("datatype", datatype)?.size();
        size.named("size")?.set(i64::try_from(bytes).expect("constructors refuse more"));
        Ok(())
    })
}

/// `MPI_Type_size_x`.
pub fn type_size_x(function: Function, datatype: MPI_Datatype, size: Out<MPI_Count>) -> c_int {
    type_size(function, datatype, IntegerOut::Large(size))
}

/// `MPI_Type_get_extent` and its large-count form.
pub fn type_get_extent(
    function: Function,
    datatype: MPI_Datatype,
    lb: IntegerOut,
    extent: IntegerOut,
) -> c_int {
    at_any_time(function, || {
        let datatype = find("datatype", datatype)?;
        let extent = extent.named("extent")?;
        lb.named("lb")?.set(datatype.lower_bound());
        extent.set(datatype.extent());
        Ok(())
    })
}

/// `MPI_Type_get_extent_x`.
pub fn type_get_extent_x(
    function: Function,
    datatype: MPI_Datatype,
    lb: Out<MPI_Count>,
    extent: Out<MPI_Count>,
) -> c_int {
    type_get_extent(function, datatype, IntegerOut::Large(lb), IntegerOut::Large(extent))
}

/// `MPI_Type_get_true_extent` and its large-count form.
pub fn type_get_true_extent(
    function: Function,
    datatype: MPI_Datatype,
    true_lb: IntegerOut,
    true_extent: IntegerOut,
) -> c_int {
    at_any_time(function, || {
        let datatype = find("datatype", datatype)?;
        let true_extent = true_extent.named("true_extent")?;
        true_lb.named("true_lb")?.set(datatype.true_lower_bound());
        true_extent.set(datatype.true_extent());
        Ok(())
    })
}

/// `MPI_Type_get_true_extent_x`.
pub fn type_get_true_extent_x(
    function: Function,
    datatype: MPI_Datatype,
    true_lb: Out<MPI_Count>,
    true_extent: Out<MPI_Count>,
) -> c_int {
    let (true_lb, true_extent) = (IntegerOut::Large(true_lb), IntegerOut::Large(true_extent));
    type_get_true_extent(function, datatype, true_lb, true_extent)
}

/// `MPI_Type_get_name`.
pub fn type_get_name(
    function: Function,
    datatype: MPI_Datatype,
    type_name: TextOut,
    resultlen: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let name = match datatype {
            MPI_DATATYPE_NULL => "MPI_DATATYPE_NULL".into(),
            _ => find("datatype", datatype)?.name(),
        };
        type_name.with_length("type_name", resultlen)?.set_bytes(name.as_bytes());
        Ok(())
    })
}

/// `MPI_Type_set_name`.
pub fn type_set_name(function: Function, datatype: MPI_Datatype, type_name: TextIn) -> c_int {
    at_any_time(function, || {
        let datatype = find("datatype", datatype)?;
        let name = type_name.bytes("type_name")?;
        datatype.set_name(OsStr::from_bytes(&name));
        Ok(())
    })
}

/// `MPI_Get_address`.
pub fn get_address(function: Function, location: *const c_void, address: Out<MPI_Aint>) -> c_int {
    at_any_time(function, || {
        address.named("address")?.set(location as MPI_Aint);
        Ok(())
    })
}

/// `MPI_Aint_add`.
pub fn aint_add(_: Function, base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
    base.wrapping_add(disp)
}

/// `MPI_Aint_diff`.
pub fn aint_diff(_: Function, addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
    addr1.wrapping_sub(addr2)
}
