//! The parts of the machine that processes are bound to.
//!
//! A process is confined to a part if all CPUs that it may use lie in it. Names are those of hwloc, as URIs.
//!
//! MPI-5.0: Environmental Inquiries, MPI_GET_HW_RESOURCE_INFO.

use std::fs;

use oxmpi_engine::machine::{Cpu, allowed_cpus};

use crate::record::Record;

/// A kind of part of the machine, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceType {
    /// What has the same memory: the machine.
    SharedMemory,
    /// A processor package.
    Package,
    /// CPUs that are equally near to a part of the memory.
    NumaNode,
    /// A core.
    Core,
    /// A hardware thread.
    HardwareThread,
}

impl ResourceType {
    /// All kinds.
    ///
    /// ```
    /// # use oxmpi_core as oxmpi;
    /// use oxmpi::ResourceType;
    ///
    /// assert_eq!(ResourceType::ALL[0], ResourceType::SharedMemory, "the largest");
    /// ```
    pub const ALL: [Self; 5] =
        [Self::SharedMemory, Self::Package, Self::NumaNode, Self::Core, Self::HardwareThread];

    /// The name that programs use.
    ///
    /// ```
    /// # use oxmpi_core as oxmpi;
    /// assert_eq!(oxmpi::ResourceType::Core.name(), "hwloc://Core");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedMemory => "mpi_shared_memory",
            Self::Package => "hwloc://Package",
            Self::NumaNode => "hwloc://NUMANode",
            Self::Core => "hwloc://Core",
            Self::HardwareThread => "hwloc://PU",
        }
    }

    /// The kind with this name.
    ///
    /// ```
    /// # use oxmpi_core as oxmpi;
    /// use oxmpi::ResourceType;
    ///
    /// assert_eq!(ResourceType::named("hwloc://NUMANode"), Some(ResourceType::NumaNode));
    /// assert_eq!(ResourceType::named("hwloc://L9Cache"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the calling thread may run on one part of this kind alone: what `MPI_Get_hw_resource_info` tells. Reads
    /// files of the system: tens of microseconds.
    ///
    /// ```
    /// # use oxmpi_core as oxmpi;
    /// use oxmpi::ResourceType;
    ///
    /// assert!(ResourceType::SharedMemory.confines_this_thread());
    /// // Who may run on one core alone may run in one package alone.
    /// let [package, core] = [ResourceType::Package, ResourceType::Core].map(ResourceType::confines_this_thread);
    /// assert!(package || !core);
    /// ```
    pub fn confines_this_thread(self) -> bool {
        Confinement::now().part(self).is_some()
    }

    fn part(self, cpu: &Cpu) -> usize {
        match self {
            Self::SharedMemory => 0,
            Self::Package => cpu.package,
            Self::NumaNode => cpu.node,
            Self::Core => cpu.core,
            Self::HardwareThread => cpu.id,
        }
    }
}

/// The number of the part that the calling thread is confined to, for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement([Option<u32>; ResourceType::ALL.len()]);

impl Confinement {
    /// That of a process which does not take part.
    pub(crate) const ABSENT: Self = Self([None; ResourceType::ALL.len()]);

    /// As it is now. Where the system does not tell, the thread is confined to the machine alone.
    ///
    /// Reads files of the system: tens of microseconds.
    pub fn now() -> Self {
        Self::to(&allowed_cpus().unwrap_or_default())
    }

    /// To the machine, and nobody asks for smaller parts.
    pub(crate) fn to_machine() -> Self {
        Self::to(&[])
    }

    /// To what these CPUs lie in; of no CPU nothing is known.
    pub(crate) fn to(cpus: &[Cpu]) -> Self {
        Self(ResourceType::ALL.map(|kind| {
            let Some(first) = cpus.first() else { return (kind == ResourceType::SharedMemory).then_some(0) };
            let part = kind.part(first);
            cpus.iter().all(|cpu| kind.part(cpu) == part).then_some(part as u32)
        }))
    }

    /// The number of the part of this kind, if there is only one that the thread may run on.
    pub fn part(&self, kind: ResourceType) -> Option<u32> {
        self.0[kind as usize]
    }
}

/// A number that processes have in common which may use the same processors of the same machine, as they do now;
/// nothing where the system does not tell which machine it is.
pub(crate) fn processors() -> Option<u64> {
    let boot = boot()?;
    let cpus = allowed_cpus().unwrap_or_default();
    Some(mix(boot.into_iter().chain(cpus.iter().flat_map(|cpu| cpu.id.to_le_bytes()))))
}

/// A number for the host that a launcher calls so; another one for another machine that is called so elsewhere.
pub(crate) fn machine_called(name: &[u8]) -> u64 {
    mix(boot().unwrap_or_default().into_iter().chain(name.iter().copied()))
}

/// What tells machines apart: the name of the last start of the system.
fn boot() -> Option<Vec<u8>> {
    fs::read("/proc/sys/kernel/random/boot_id").ok()
}

/// FNV-1a: the same in all builds.
fn mix(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Record for Confinement {
    const BYTES: usize = 8 * ResourceType::ALL.len();

    fn write(&self, into: &mut Vec<u8>) {
        let word = |part: &Option<u32>| part.map_or(u64::MAX, u64::from).to_ne_bytes();
        into.extend(self.0.iter().flat_map(word));
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[8 * at..8 * at + 8].try_into().expect("8 bytes"));
        Self(ResourceType::ALL.map(|kind| u32::try_from(word(kind as usize)).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(package: usize, node: usize, core: usize, id: usize) -> Cpu {
        Cpu { package, node, core, id }
    }

    #[test]
    fn a_process_is_confined_to_what_holds_all_its_cpus() {
        let two_threads = Confinement::to(&[cpu(1, 3, 6, 6), cpu(1, 3, 6, 7)]);
        assert_eq!(two_threads.part(ResourceType::Core), Some(6));
        assert_eq!(two_threads.part(ResourceType::NumaNode), Some(3));
        assert_eq!(two_threads.part(ResourceType::HardwareThread), None);
        let two_packages = Confinement::to(&[cpu(0, 0, 0, 0), cpu(1, 1, 4, 4)]);
        assert_eq!(two_packages, Confinement([Some(0), None, None, None, None]));
        assert_eq!(Confinement::to(&[]), Confinement([Some(0), None, None, None, None]));
    }

    #[test]
    fn names_and_records_are_read_back() {
        for kind in ResourceType::ALL {
            assert_eq!(ResourceType::named(kind.name()), Some(kind));
        }
        let mine = Confinement([Some(0), None, Some(3), None, Some(4_000_000)]);
        let mut bytes = Vec::new();
        mine.write(&mut bytes);
        assert_eq!((bytes.len(), Confinement::read(&bytes)), (Confinement::BYTES, mine));
    }
}
