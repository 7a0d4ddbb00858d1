//! Which CPUs each rank may use.
//!
//! The default gives each rank its share of the CPUs the launcher itself may use, and binds nobody when there are
//! more ranks than CPUs, or where the system does not tell which these are.

use std::io;

use oxmpi_shm::Cpu;

/// How ranks are bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Each rank to one core, with all its hardware threads.
    Core,
    /// Each rank to one hardware thread.
    HardwareThread,
    /// Nobody is bound.
    None,
    /// Each rank to the CPUs of one NUMA node.
    Numa,
    /// Each rank to its part of all CPUs; nobody if there are more ranks than CPUs, or nobody knows these.
    #[default]
    Share,
    /// Each rank to the CPUs of one processor package.
    Socket,
}

impl Policy {
    /// The policy called `name`; Open MPI's qualifiers after `:` are dropped.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.split(':').next()? {
            "core" => Some(Self::Core),
            "hwthread" => Some(Self::HardwareThread),
            "none" | "off" => Some(Self::None),
            "numa" => Some(Self::Numa),
            "share" | "default" => Some(Self::Share),
            "package" | "socket" => Some(Self::Socket),
            _ => None,
        }
    }

    /// By which [`Policy::from_name`] knows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::HardwareThread => "hwthread",
            Self::None => "none",
            Self::Numa => "numa",
            Self::Share => "share",
            Self::Socket => "socket",
        }
    }

    /// As [`Policy::bind`], to what the system has told.
    ///
    /// # Errors
    /// What it has told instead, unless that does not matter.
    pub fn bind_to(self, cpus: io::Result<Vec<Cpu>>, ranks: usize) -> io::Result<Vec<Vec<usize>>> {
        let is_needed = !matches!(self, Self::None | Self::Share);
        let cpus = cpus.or_else(|error| if is_needed { Err(error) } else { Ok(Vec::new()) });
        Ok(self.bind(&cpus?, ranks))
    }

    /// The CPUs of each of `ranks` ranks, in ascending order; none for a rank that is not bound.
    pub fn bind(self, cpus: &[Cpu], ranks: usize) -> Vec<Vec<usize>> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        let domains = match self {
            Self::Core => domains(&cpus, |cpu| cpu.core),
            Self::HardwareThread => domains(&cpus, |cpu| cpu.id),
            Self::None => Vec::new(),
            Self::Numa => domains(&cpus, |cpu| cpu.node),
            Self::Share => shares(&cpus, ranks),
            Self::Socket => domains(&cpus, |cpu| cpu.package),
        };
        if domains.is_empty() {
            return vec![Vec::new(); ranks];
        }
        (0..ranks).map(|rank| domains[rank * domains.len() / ranks].clone()).collect()
    }
}

/// The CPUs grouped by `key`, in the order of the machine.
fn domains(cpus: &[Cpu], key: impl Fn(&Cpu) -> usize) -> Vec<Vec<usize>> {
    cpus.chunk_by(|left, right| key(left) == key(right)).map(sorted_ids).collect()
}

/// As many parts as ranks, or none if there are too many ranks or only one.
fn shares(cpus: &[Cpu], ranks: usize) -> Vec<Vec<usize>> {
    if ranks > cpus.len() || ranks < 2 {
        return Vec::new();
    }
    let bound = |part: usize| part * cpus.len() / ranks;
    (0..ranks).map(|rank| sorted_ids(&cpus[bound(rank)..bound(rank + 1)])).collect()
}

fn sorted_ids(cpus: &[Cpu]) -> Vec<usize> {
    let mut ids: Vec<usize> = cpus.iter().map(|cpu| cpu.id).collect();
    ids.sort_unstable();
    ids
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Two packages of two cores of two threads, numbered as Linux does: second threads last.
    fn machine() -> Vec<Cpu> {
        let cpu = |id: usize| Cpu { id, core: id % 4, node: id % 4 / 2, package: id % 4 / 2 };
        (0..8).map(cpu).collect()
    }

    #[test]
    fn shares_keep_the_threads_of_a_core_together() {
        assert_eq!(Policy::Share.bind(&machine(), 2), [[0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(Policy::Share.bind(&machine(), 4), [[0, 4], [1, 5], [2, 6], [3, 7]]);
    }

    #[test]
    fn nobody_is_bound_when_there_are_more_ranks_than_cpus() {
        assert!(Policy::Share.bind(&machine(), 9).iter().all(Vec::is_empty));
        assert!(Policy::None.bind(&machine(), 2).iter().all(Vec::is_empty));
    }

    #[test]
    fn nobody_is_bound_where_the_system_tells_of_no_cpus_unless_he_is_to_be() {
        let unknown = || Err(io::ErrorKind::InvalidInput.into());
        assert_eq!(
            Policy::Share.bind_to(Ok(machine()), 2).expect("known"),
            Policy::Share.bind(&machine(), 2)
        );
        for policy in [Policy::None, Policy::Share] {
            assert_eq!(policy.bind_to(unknown(), 2).expect("it is not needed"), [[]; 2] as [[usize; 0]; 2]);
        }
        Policy::Core.bind_to(unknown(), 2).expect_err("it is needed");
    }

    #[test]
    fn a_single_rank_keeps_all_cpus() {
        assert_eq!(Policy::Share.bind(&machine(), 1), [[]; 1] as [[usize; 0]; 1]);
    }

    #[test]
    fn domains_are_spread_over_few_ranks_and_shared_by_many() {
        assert_eq!(Policy::Core.bind(&machine(), 2), [[0, 4], [2, 6]]);
        assert_eq!(Policy::Numa.bind(&machine(), 3), [[0, 1, 4, 5], [0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(Policy::Socket.bind(&machine(), 2), [[0, 1, 4, 5], [2, 3, 6, 7]]);
        assert_eq!(Policy::HardwareThread.bind(&machine(), 8)[1], [4]);
        assert_eq!(Policy::Core.bind(&machine(), 16)[15], [3, 7]);
    }

    proptest! {
        #[test]
        fn shares_use_every_cpu_once(count in 2_usize..64, ranks in 2_usize..64) {
            let cpus: Vec<Cpu> = (0..count).map(|id| Cpu { id, core: id, node: 0, package: 0 }).collect();
            let shares = Policy::Share.bind(&cpus, ranks);
            let mut used: Vec<usize> = shares.iter().flatten().copied().collect();
            used.sort_unstable();
            let all: Vec<usize> = if ranks <= count { (0..count).collect() } else { Vec::new() };
            prop_assert_eq!(used, all);
            prop_assert_eq!(shares.len(), ranks);
        }
    }
}
