//! Communicators of the processes that share a part of the machine.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, MPI_COMM_SPLIT_TYPE; MPI Environmental Management,
//! MPI_GET_HW_RESOURCE_INFO.

use std::ffi::c_int;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::info::Info;
use oxmpi_core::{Confinement, Process, ResourceType, SplitType};

use super::create::make;
use crate::argument::Out;
use crate::failure::in_process;
use crate::generated::constants::{
    MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED, MPI_COMM_TYPE_SHARED,
    MPI_UNDEFINED,
};
use crate::generated::types::{MPI_Comm, MPI_Info};
use crate::object::comm::Entry;
use crate::object::info;

/// The hint that names a kind of part of the machine.
const RESOURCE_TYPE: &str = "mpi_hw_resource_type";
/// The hint that names a process set.
const PROCESS_SET: &str = "mpi_pset_name";

/// `MPI_Comm_split_type`. A program that leaves the choice of the parts to us finds their kind in its hints.
pub fn comm_split_type(
    function: Function,
    comm: MPI_Comm,
    split_type: c_int,
    key: c_int,
    hints: MPI_Info,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    let construct = |process: &Process, parent: &Arc<Entry>| {
        let known = info::hints("info", hints)?;
        let split_type = meaning(split_type, &known)?;
        let (made, kind) = process.comm_split_type(&parent.core, split_type, key)?;
        if let (SplitType::Down, Some(kind), Some(_)) = (split_type, kind, &made) {
            info::tell(hints, RESOURCE_TYPE, kind.name());
        }
        Ok((made, known))
    };
    make(function, comm, newcomm, construct)
}

/// What a split type and its hints mean. What they name and we do not know splits nobody off.
fn meaning(split_type: c_int, hints: &Info) -> Result<SplitType> {
    let by_resource = || hints.get(RESOURCE_TYPE).and_then(ResourceType::named).map(SplitType::By);
    let by_process_set = || match hints.get(PROCESS_SET)?.to_ascii_lowercase().as_str() {
        "mpi://self" => Some(SplitType::Alone),
        "mpi://world" => Some(SplitType::ByWorld),
        _ => None,
    };
    Ok(match split_type {
        MPI_COMM_TYPE_SHARED => SplitType::By(ResourceType::SharedMemory),
        MPI_COMM_TYPE_HW_GUIDED => by_resource().unwrap_or(SplitType::Undefined),
        MPI_COMM_TYPE_RESOURCE_GUIDED => {
            by_resource().or_else(by_process_set).unwrap_or(SplitType::Undefined)
        }
        MPI_COMM_TYPE_HW_UNGUIDED => SplitType::Down,
        MPI_UNDEFINED => SplitType::Undefined,
        _ => return Err(Error::new(ErrorClass::Arg, format!("split_type is {split_type}, which is none"))),
    })
}

/// `MPI_Get_hw_resource_info`: the kinds of parts, and whether the calling thread is confined to one part of each.
pub fn get_hw_resource_info(function: Function, hw_info: Out<MPI_Info>) -> c_int {
    in_process(function, |_| {
        let out = hw_info.named("hw_info")?;
        let confinement = Confinement::now();
        let mut parts = Info::default();
        for kind in ResourceType::ALL {
            parts.set(kind.name(), if confinement.part(kind).is_some() { "true" } else { "false" });
        }
        out.set(info::insert(parts));
        Ok(())
    })
}
