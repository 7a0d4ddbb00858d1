//! Attributes: values that the program attaches to communicators, datatypes and windows.
//!
//! Predefined attributes are found on every communicator of the world model; on those of sessions only `MPI_TAG_UB`.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching; MPI Environmental Management, Implementation
//! Information.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use oxmpi_base::{Error, ErrorClass, Function, GREATEST_TAG, Result};
use oxmpi_core::app_number;

use crate::argument::{Callback, InOut, Out};
use crate::failure::at_any_time;
use crate::generated::constants::{
    MPI_ANY_SOURCE, MPI_APPNUM, MPI_HOST, MPI_IO, MPI_KEYVAL_INVALID, MPI_LASTUSEDCODE, MPI_PROC_NULL,
    MPI_TAG_UB, MPI_UNIVERSE_SIZE, MPI_WTIME_IS_GLOBAL,
};
use crate::generated::types::{
    MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Datatype,
    MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Win, MPI_Win_copy_attr_function,
    MPI_Win_delete_attr_function,
};
use crate::object::attributes::{Attributed, CopyFunction, DeleteFunction, OF_COMMS, OF_DATATYPES, OF_WINS};
use crate::object::comm::on_comm;
use crate::object::datatype;
use crate::object::win::on_win;
use crate::process::Origin;
use crate::{error_codes, process};

/// The first names of these functions.
pub use self::{
    comm_create_keyval as keyval_create, comm_delete_attr as attr_delete, comm_free_keyval as keyval_free,
    comm_get_attr as attr_get, comm_set_attr as attr_put,
};

fn create_keyval<H: Attributed>(
    function: Function,
    copy: Option<CopyFunction<H>>,
    delete: Option<DeleteFunction<H>>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> c_int {
    at_any_time(function, || {
        keyval.named(H::cache().argument)?.set(H::cache().create_keyval(copy, delete, extra_state));
        Ok(())
    })
}

fn free_keyval<H: Attributed>(function: Function, keyval: InOut<c_int>) -> c_int {
    at_any_time(function, || {
        let keyval = keyval.named(H::cache().argument)?;
        H::cache().free_keyval(keyval.get())?;
        keyval.set(MPI_KEYVAL_INVALID);
        Ok(())
    })
}

/// Hands out the value of an attribute.
fn get_attr(found: Option<*mut c_void>, attribute_val: Out<*mut c_void>, flag: Out<c_int>) -> Result<()> {
    let value = attribute_val.named("attribute_val")?;
    let flag = flag.named("flag")?;
    if let Some(found) = found {
        value.set(found);
    }
    flag.set(found.is_some().into());
    Ok(())
}

/// Where a program finds the value of a predefined attribute.
fn predefined(keyval: c_int) -> Option<*const c_int> {
    static ANY_RANK: c_int = MPI_ANY_SOURCE;
    static APP_NUMBER: OnceLock<Option<c_int>> = OnceLock::new();
    static TAG_BOUND: c_int = GREATEST_TAG;
    static IS_GLOBAL: [c_int; 2] = [0, 1];
    static NO_RANK: c_int = MPI_PROC_NULL;
    static UNIVERSE: OnceLock<c_int> = OnceLock::new();
    match keyval {
        MPI_APPNUM => {
            let number = || app_number().and_then(|number| c_int::try_from(number).ok());
            APP_NUMBER.get_or_init(number).as_ref().map(ptr::from_ref)
        }
        MPI_HOST => Some(&raw const NO_RANK),
        MPI_IO => Some(&raw const ANY_RANK),
        MPI_LASTUSEDCODE => Some(error_codes::last_used()),
        MPI_TAG_UB => Some(&raw const TAG_BOUND),
        MPI_UNIVERSE_SIZE => {
            let size = process::running()?.world().size();
            let size = c_int::try_from(size).expect("ranks are ints");
            Some(UNIVERSE.get_or_init(|| size))
        }
        MPI_WTIME_IS_GLOBAL => {
            // Of machines, each counts from its own start.
            Some(&raw const IS_GLOBAL[usize::from(process::running()?.world().is_on_one_node())])
        }
        _ => None,
    }
}

/// Refuses to change what the standard defines.
fn own_keyval(keyval: c_int) -> Result<()> {
    if keyval == MPI_APPNUM || predefined(keyval).is_some() {
        let text =
            format!("comm_keyval is {keyval}, that of a predefined attribute, which cannot be changed");
        return Err(Error::new(ErrorClass::Keyval, text));
    }
    Ok(())
}

fn find_of_comm(comm: MPI_Comm, origin: Origin, keyval: c_int) -> Result<Option<*mut c_void>> {
    match predefined(keyval) {
        // What describes the world is not there, though its keyval is.
        Some(_) if origin != Origin::World && keyval != MPI_TAG_UB => Ok(None),
        Some(value) => Ok(Some(value.cast_mut().cast())),
        // Unknown: the program was not started by a launcher that numbers its programs.
        None if keyval == MPI_APPNUM => Ok(None),
        None => OF_COMMS.get(comm, keyval),
    }
}

/// `MPI_Comm_create_keyval`.
pub fn comm_create_keyval(
    function: Function,
    copy: Callback<MPI_Comm_copy_attr_function>,
    delete: Callback<MPI_Comm_delete_attr_function>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> c_int {
    create_keyval::<MPI_Comm>(function, copy.get(), delete.get(), keyval, extra_state)
}

/// `MPI_Comm_free_keyval`.
pub fn comm_free_keyval(function: Function, keyval: InOut<c_int>) -> c_int {
    free_keyval::<MPI_Comm>(function, keyval)
}

/// `MPI_Comm_get_attr`.
pub fn comm_get_attr(
    function: Function,
    comm: MPI_Comm,
    keyval: c_int,
    attribute_val: Out<*mut c_void>,
    flag: Out<c_int>,
) -> c_int {
    on_comm(function, comm, |_, entry| {
        let found = find_of_comm(comm, entry.origin, keyval)?;
        get_attr(found, attribute_val, flag)
    })
}

/// `MPI_Comm_set_attr`.
pub fn comm_set_attr(function: Function, comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void) -> c_int {
    on_comm(function, comm, |_, _| {
        own_keyval(keyval)?;
        OF_COMMS.set(comm, keyval, attribute_val)
    })
}

/// `MPI_Comm_delete_attr`.
pub fn comm_delete_attr(function: Function, comm: MPI_Comm, keyval: c_int) -> c_int {
    on_comm(function, comm, |_, _| {
        own_keyval(keyval)?;
        OF_COMMS.delete(comm, keyval)
    })
}

/// `MPI_Type_create_keyval`.
pub fn type_create_keyval(
    function: Function,
    copy: Callback<MPI_Type_copy_attr_function>,
    delete: Callback<MPI_Type_delete_attr_function>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> c_int {
    create_keyval::<MPI_Datatype>(function, copy.get(), delete.get(), keyval, extra_state)
}

/// `MPI_Type_free_keyval`.
pub fn type_free_keyval(function: Function, keyval: InOut<c_int>) -> c_int {
    free_keyval::<MPI_Datatype>(function, keyval)
}

/// `MPI_Type_get_attr`.
pub fn type_get_attr(
    function: Function,
    datatype: MPI_Datatype,
    keyval: c_int,
    attribute_val: Out<*mut c_void>,
    flag: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        datatype::find("datatype", datatype)?;
        let found = OF_DATATYPES.get(datatype, keyval)?;
        get_attr(found, attribute_val, flag)
    })
}

/// `MPI_Type_set_attr`.
pub fn type_set_attr(
    function: Function,
    datatype: MPI_Datatype,
    keyval: c_int,
    attribute_val: *mut c_void,
) -> c_int {
    at_any_time(function, || {
        datatype::find("datatype", datatype)?;
        OF_DATATYPES.set(datatype, keyval, attribute_val)
    })
}

/// `MPI_Type_delete_attr`.
pub fn type_delete_attr(function: Function, datatype: MPI_Datatype, keyval: c_int) -> c_int {
    at_any_time(function, || {
        datatype::find("datatype", datatype)?;
        OF_DATATYPES.delete(datatype, keyval)
    })
}

/// `MPI_Win_create_keyval`.
pub fn win_create_keyval(
    function: Function,
    copy: Callback<MPI_Win_copy_attr_function>,
    delete: Callback<MPI_Win_delete_attr_function>,
    keyval: Out<c_int>,
    extra_state: *mut c_void,
) -> c_int {
    create_keyval::<MPI_Win>(function, copy.get(), delete.get(), keyval, extra_state)
}

/// `MPI_Win_free_keyval`.
pub fn win_free_keyval(function: Function, keyval: InOut<c_int>) -> c_int {
    free_keyval::<MPI_Win>(function, keyval)
}

/// `MPI_Win_get_attr`.
pub fn win_get_attr(
    function: Function,
    win: MPI_Win,
    keyval: c_int,
    attribute_val: Out<*mut c_void>,
    flag: Out<c_int>,
) -> c_int {
    on_win(function, win, |_| {
        let found = OF_WINS.get(win, keyval)?;
        get_attr(found, attribute_val, flag)
    })
}

/// `MPI_Win_set_attr`.
pub fn win_set_attr(function: Function, win: MPI_Win, keyval: c_int, attribute_val: *mut c_void) -> c_int {
    on_win(function, win, |_| OF_WINS.set(win, keyval, attribute_val))
}

/// `MPI_Win_delete_attr`.
pub fn win_delete_attr(function: Function, win: MPI_Win, keyval: c_int) -> c_int {
    on_win(function, win, |_| OF_WINS.delete(win, keyval))
}
