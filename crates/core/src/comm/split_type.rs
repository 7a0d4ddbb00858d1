//! Communicators of the members of one that share a part of the machine.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_SPLIT_TYPE.

use std::sync::Arc;

use oxmpi_base::{Ordered, Result};
use oxmpi_engine::Whereabouts;

use super::Communicator;
use crate::coll::exchange::exchange;
use crate::hardware::{Confinement, ResourceType};
use crate::process::Process;
use crate::record::Record;

/// How a communicator is split by what its members share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitType {
    /// Each member alone.
    Alone,
    /// Those that are confined to the same part of this kind; none for those that are confined to none.
    By(ResourceType),
    /// By the largest parts that divide the communicator, if there are any.
    Down,
    /// Those of one world, on whatever machines.
    ByWorld,
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
        let confinement = match split_type {
            SplitType::Undefined => Confinement::ABSENT,
            SplitType::Alone | SplitType::By(ResourceType::SharedMemory) | SplitType::ByWorld => {
                Confinement::to_machine()
            }
            SplitType::By(_) | SplitType::Down => Confinement::now(),
        };
        let mine = {
            let first = self.world().addresses.at(0).peer;
            let engine = &self.enter().engine;
            Located { machine: engine.machine(), world: engine.whereabouts_of(first), confinement }
        };
        // Who names none does not know what the others name, and takes part in all that these may need.
        let everybody = exchange(self, comm, &mine)?;
        let everybody = [everybody.local, everybody.remote].concat();
        let kind = match split_type {
            SplitType::By(kind) => Some(kind),
            SplitType::Down => what_divides(&everybody),
            SplitType::Alone | SplitType::ByWorld | SplitType::Undefined => None,
        };
        let color = match split_type {
            SplitType::Alone => Some(comm.rank()).filter(|_| !comm.is_inter()), // nobody is opposite
            SplitType::ByWorld => place(mine.world(), everybody.iter().map(Located::world)),
            _ => kind.and_then(|kind| mine.color(&everybody, kind)),
        };
        Ok((self.comm_split(comm, color.map(u32::cast_signed), key)?, kind))
    }
}

/// What a process is confined to, of which machine, and of which world.
#[derive(Clone, Copy, Debug)]
struct Located {
    machine: u64,
    /// Where the first rank of its world is.
    world: Whereabouts,
    confinement: Confinement,
}

impl Located {
    fn world(&self) -> (u64, u32) {
        (self.world.job(), self.world.rank())
    }

    fn part(&self, kind: ResourceType) -> Option<(u64, u32)> {
        Some((self.machine, self.confinement.part(kind)?))
    }

    /// The place of its part among those of all.
    fn color(&self, all: &[Self], kind: ResourceType) -> Option<u32> {
        place(self.part(kind)?, all.iter().filter_map(|one| one.part(kind)))
    }
}

/// Which of those that there are among all is mine.
fn place(mine: (u64, u32), all: impl Iterator<Item = (u64, u32)>) -> Option<u32> {
    let mut different = Ordered::new();
    all.for_each(|one| _ = different.insert(one, ()));
    different.iter().position(|(one, ())| one == mine).map(|place| place as u32)
}

impl Record for Located {
    const BYTES: usize = 8 + Whereabouts::BYTES + Confinement::BYTES;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.machine.to_ne_bytes());
        self.world.write(into);
        self.confinement.write(into);
    }

    fn read(from: &[u8]) -> Self {
        let (machine, rest) = from.split_at(8);
        let (world, confinement) = rest.split_at(Whereabouts::BYTES);
        let machine = u64::from_ne_bytes(machine.try_into().expect("8 bytes"));
        Self { machine, world: Whereabouts::read(world), confinement: Confinement::read(confinement) }
    }
}

/// The largest kind of parts that divides those who are not absent: not all are confined to the same one, but somebody
/// is to one. Who is to none is in no part.
fn what_divides(all: &[Located]) -> Option<ResourceType> {
    let present: Vec<_> = all.iter().filter(|one| one.confinement != Confinement::ABSENT).collect();
    ResourceType::ALL.into_iter().find(|&kind| {
        let parts = || present.iter().map(|one| one.part(kind));
        parts().any(|part| part.is_some()) && parts().any(|part| part != present[0].part(kind))
    })
}

#[cfg(test)]
mod tests {
    use oxmpi_engine::machine::Cpu;

    use super::*;

    fn cpu(package: usize, node: usize, core: usize, id: usize) -> Cpu {
        Cpu { package, node, core, id }
    }

    fn here(confinement: Confinement) -> Located {
        on(0, confinement)
    }

    fn on(machine: u64, confinement: Confinement) -> Located {
        Located { machine, world: Whereabouts::new(machine, 0), confinement }
    }

    #[test]
    fn the_largest_parts_that_divide_are_found() {
        let near = [here(Confinement::to(&[cpu(0, 1, 2, 2)])), here(Confinement::to(&[cpu(0, 1, 3, 3)]))];
        assert_eq!(what_divides(&near), Some(ResourceType::Core));
        let far = [near[0], here(Confinement::ABSENT), here(Confinement::to(&[cpu(1, 2, 8, 8)]))];
        assert_eq!(what_divides(&far), Some(ResourceType::Package));
        let between = [far[0], here(Confinement::to(&[cpu(0, 1, 2, 2), cpu(1, 2, 8, 8)])), far[2]];
        assert_eq!(what_divides(&between), Some(ResourceType::Package));
        let colors = between.map(|one| one.color(&between, ResourceType::Package));
        assert_eq!(colors, [Some(0), None, Some(1)]);
        let unbound = [here(Confinement::to(&[cpu(0, 1, 2, 2), cpu(0, 1, 3, 3)])); 2];
        assert_eq!(what_divides(&unbound), None);
        assert_eq!(what_divides(&[here(Confinement::ABSENT)]), None);
    }

    #[test]
    fn parts_of_different_machines_are_different() {
        let on = |machine, core| on(machine, Confinement::to(&[cpu(0, 0, core, core)]));
        let all = [on(9, 0), on(4, 0), on(4, 1)];
        assert_eq!(what_divides(&all), Some(ResourceType::SharedMemory));
        let colors = |kind| all.map(|one| one.color(&all, kind));
        assert_eq!(colors(ResourceType::SharedMemory), [Some(1), Some(0), Some(0)]);
        assert_eq!(colors(ResourceType::Core), [Some(2), Some(0), Some(1)]);
    }
}
