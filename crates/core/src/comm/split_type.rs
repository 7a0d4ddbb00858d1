//! Communicators of the members of one that share a part of the machine.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_SPLIT_TYPE.

use std::sync::Arc;

use oxmpi_base::Result;

use super::Communicator;
use crate::coll::exchange::exchange;
use crate::hardware::{Confinement, ResourceType};
use crate::process::Process;

/// How a communicator is split by what its members share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitType {
    /// Each member alone.
    Alone,
    /// Those that are confined to the same part of this kind; none for those that are confined to none.
    By(ResourceType),
    /// By the largest parts that divide the communicator, if there are any.
    Down,
    /// Not: this process becomes a member of nothing.
    Undefined,
}

impl Process {
    /// Communicators of the members that share something, in the order of their keys; none for those that share
    /// nothing. And by which kind of part it was split. All members name the same type, or none. Collective.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn comm_split_type(
        &self,
        comm: &Arc<Communicator>,
        split_type: SplitType,
        key: i32,
    ) -> Result<(Option<Arc<Communicator>>, Option<ResourceType>)> {
        let mine = match split_type {
            SplitType::Undefined => Confinement::ABSENT,
            SplitType::Alone | SplitType::By(ResourceType::SharedMemory) => Confinement::to_machine(),
            SplitType::By(_) | SplitType::Down => Confinement::now(),
        };
        // Who names none does not know what the others name, and takes part in all that these may need.
        let everybody = exchange(self, comm, &mine)?;
        let kind = match split_type {
            SplitType::By(kind) => Some(kind),
            SplitType::Down => what_divides(&[everybody.local, everybody.remote].concat()),
            SplitType::Alone | SplitType::Undefined => None,
        };
        let color = match split_type {
            SplitType::Alone => Some(comm.rank()).filter(|_| !comm.is_inter()), // nobody is opposite
            _ => kind.and_then(|kind| mine.part(kind)),
        };
        Ok((self.comm_split(comm, color.map(u32::cast_signed), key)?, kind))
    }
}

/// The largest kind of parts to one of which everybody is confined that is not absent, but not all to the same.
fn what_divides(all: &[Confinement]) -> Option<ResourceType> {
    let present: Vec<_> = all.iter().filter(|one| **one != Confinement::ABSENT).collect();
    ResourceType::ALL.into_iter().find(|&kind| {
        let parts = || present.iter().map(|one| one.part(kind));
        parts().all(|part| part.is_some()) && parts().any(|part| part != present[0].part(kind))
    })
}

#[cfg(test)]
mod tests {
    use oxmpi_engine::machine::Cpu;

    use super::*;

    fn cpu(package: usize, node: usize, core: usize, id: usize) -> Cpu {
        Cpu { package, node, core, id }
    }

    #[test]
    fn the_largest_parts_that_divide_are_found() {
        let near = [Confinement::to(&[cpu(0, 1, 2, 2)]), Confinement::to(&[cpu(0, 1, 3, 3)])];
        assert_eq!(what_divides(&near), Some(ResourceType::Core));
        let far = [near[0], Confinement::ABSENT, Confinement::to(&[cpu(1, 2, 8, 8)])];
        assert_eq!(what_divides(&far), Some(ResourceType::Package));
        let unbound = [Confinement::to(&[cpu(0, 1, 2, 2), cpu(0, 1, 3, 3)]); 2];
        assert_eq!(what_divides(&unbound), None);
        assert_eq!(what_divides(&[Confinement::ABSENT]), None);
    }
}
