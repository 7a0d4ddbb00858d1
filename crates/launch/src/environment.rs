//! The environment of the ranks: what they inherit, what the user sets, what the rank library is told.

use std::ffi::{OsStr, OsString};
use std::ops::RangeInclusive;

use oxmpi_broker::EAGER_LIMIT;

/// A variable and its value.
pub type Variable = (OsString, OsString);

/// What the user asked for the environment of some ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Which of the launcher's variables are inherited; `None` if the user did not say.
    pub inherit: Option<Inherit>,
    /// Variables to pass on from the launcher whatever `inherit` says.
    pub pass: Vec<OsString>,
    /// Variables to set, later ones over earlier ones.
    pub set: Vec<Variable>,
}

/// Which of the launcher's variables reach the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inherit {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those named.
    Only(Vec<OsString>),
}

/// What the launcher tells one rank through its environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankVariables {
    /// Rank in the world.
    pub rank: u32,
    /// Size of the world.
    pub size: u32,
    /// Rank on the node: the seat in its memory.
    pub local_rank: u32,
    /// Ranks of the node.
    pub local_size: u32,
    /// Which of the programs of the command line the rank runs, from 0.
    pub app_number: u32,
    /// Ranks that the command line asks for with this program.
    pub max_procs: u32,
    /// Descriptor of the job's segment, in the launcher too.
    pub job_fd: i32,
    /// The job's number, which no other job has.
    pub job_id: u64,
    /// Descriptor that reads end-of-file once the launcher is gone.
    pub lifeline_fd: i32,
    /// Where that file lies, and its number there: the descriptor may be closed, and another get its number.
    pub lifeline: [u64; 2],
}

/// Variables of an enclosing launcher, which must not reach our ranks.
const FOREIGN: [&str; 6] = ["PMI_FD", "PMI_PORT", PARENT_PORT, NODES, HOST, ADDRESS];

/// Where the ranks of a spawned job find who has spawned it.
pub const PARENT_PORT: &str = "OXMPI_PARENT_PORT";

/// Which ranks share a node, where there are several.
pub const NODES: &str = "OXMPI_NODES";

/// How the host is called, where an agent has started them, or those who have spawned them.
pub const HOST: &str = "OXMPI_HOST";

/// Which of its addresses has reached the launcher, and so is likely to reach the job's other hosts: the host may have
/// networks of its own, as those of containers.
pub const ADDRESS: &str = "OXMPI_ADDRESS";

/// How many messages libfabric's `ofi_rxm` is ready to take at a time, 16 KiB each: 4096 for each rank by itself. It
/// makes room for 1024 at once; as many more can have come that no receive was posted for before it makes more.
const READY: (&str, u32) = ("FI_OFI_RXM_MSG_RX_SIZE", 512);

/// For how many processes libfabric has room from the beginning: 1024 by itself. Its `ofi_rxm` has room for 256 ends of
/// messages for each, 13 MB together, and uses all that in turn.
const UNIVERSE: &str = "FI_UNIVERSE_SIZE";
/// Of these there are enough in any job: the ranks of one node may meet those of other jobs.
const UNIVERSE_SIZES: RangeInclusive<u32> = 16..=1024;

/// Lets each of `size` ranks that need a network leave memory to others.
pub fn spare_memory(variables: &mut Vec<Variable>, size: u32) {
    let universe = size.clamp(*UNIVERSE_SIZES.start(), *UNIVERSE_SIZES.end());
    tell_libfabric(variables, READY);
    tell_libfabric(variables, (UNIVERSE, universe));
}

/// Lets ranks send much at once, also those that need no network: they may meet others at a port.
pub fn send_much_at_once(variables: &mut Vec<Variable>) {
    tell_libfabric(variables, EAGER_LIMIT);
}

/// Tells libfabric how much, unless the user has: it reads that from the environment alone, which a process with
/// threads cannot change.
fn tell_libfabric(variables: &mut Vec<Variable>, (name, value): (&str, u32)) {
    if !variables.iter().any(|(known, _)| known == name) {
        variables.push((name.into(), value.to_string().into()));
    }
}

impl RankVariables {
    /// The variables by name.
    pub fn list(&self) -> [(&'static str, i64); 15] {
        let (rank, size) = (i64::from(self.rank), i64::from(self.size));
        let (local_rank, local_size) = (i64::from(self.local_rank), i64::from(self.local_size));
        let [device, inode] = self.lifeline;
        [
            ("OXMPI_RANK", rank),
            ("OXMPI_SIZE", size),
            ("OXMPI_LOCAL_RANK", local_rank),
            ("OXMPI_LOCAL_SIZE", local_size),
            ("OXMPI_APPNUM", i64::from(self.app_number)),
            ("OXMPI_MAXPROCS", i64::from(self.max_procs)),
            ("OXMPI_JOB_FD", i64::from(self.job_fd)),
            ("OXMPI_JOB_ID", self.job_id.cast_signed()),
            ("OXMPI_LIFELINE_FD", i64::from(self.lifeline_fd)),
            ("OXMPI_LIFELINE_DEVICE", device.cast_signed()),
            ("OXMPI_LIFELINE_INODE", inode.cast_signed()),
            ("PMI_RANK", rank),
            ("PMI_SIZE", size),
            ("MPI_LOCALRANKID", local_rank),
            ("MPI_LOCALNRANKS", local_size),
        ]
    }
}

/// The variables that all ranks of a block share, each name once, in the order of their first setting.
///
/// `outer` is the launcher's environment. Rules of the `block` win over those of the whole job (`global`); names that
/// the launcher sets for each rank are left out.
pub fn compose(outer: &[Variable], global: &Rules, block: &Rules) -> Vec<Variable> {
    let inherit = block.inherit.as_ref().or(global.inherit.as_ref()).unwrap_or(&Inherit::All);
    let passed = |name: &OsStr| global.pass.iter().chain(&block.pass).any(|pass| pass == name);
    let mut variables: Vec<Variable> =
        outer.iter().filter(|(name, _)| inherit.admits(name) || passed(name)).cloned().collect();
    for (name, value) in global.set.iter().chain(&block.set) {
        match variables.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => old.clone_from(value),
            None => variables.push((name.clone(), value.clone())),
        }
    }
    variables.retain(|(name, _)| !is_reserved(name));
    variables
}

fn is_reserved(name: &OsStr) -> bool {
    let none = RankVariables::default();
    FOREIGN.iter().any(|foreign| *foreign == name) || none.list().iter().any(|(own, _)| *own == name)
}

impl Inherit {
    fn admits(&self, name: &OsStr) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Only(names) => names.iter().any(|only| only == name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<Variable> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn everything_is_inherited_unless_the_user_says_otherwise() {
        let outer = variables(&[("A", "1"), ("B", "2")]);
        assert_eq!(compose(&outer, &Rules::default(), &Rules::default()), outer);
    }

    #[test]
    fn what_the_user_has_told_libfabric_stays() {
        let (ready, universe) = ((READY.0, "512"), |size| (UNIVERSE, size));
        for (size, told) in [(2, "16"), (100, "100"), (5000, "1024")] {
            let mut all = variables(&[("A", "1")]);
            spare_memory(&mut all, size);
            assert_eq!(all, variables(&[("A", "1"), ready, universe(told)]));
        }
        let told = variables(&[(READY.0, "7"), universe("9")]);
        let mut all = told.clone();
        spare_memory(&mut all, 100);
        assert_eq!(all, told);
    }

    #[test]
    fn who_was_told_how_much_to_send_at_once_sends_that() {
        let mut all = Vec::new();
        send_much_at_once(&mut all);
        assert_eq!(all, variables(&[(EAGER_LIMIT.0, "67584")]));
        let mut told = variables(&[(EAGER_LIMIT.0, "16384")]);
        send_much_at_once(&mut told);
        assert_eq!(told, variables(&[(EAGER_LIMIT.0, "16384")]));
    }

    #[test]
    fn rules_of_the_block_win_over_rules_of_the_job() {
        let outer = variables(&[("A", "1"), ("B", "2"), ("C", "3")]);
        let global =
            Rules { inherit: Some(Inherit::None), set: variables(&[("X", "job")]), ..Rules::default() };
        let block = Rules {
            inherit: Some(Inherit::Only(vec!["B".into()])),
            pass: vec!["C".into()],
            set: variables(&[("X", "block")]),
        };
        let expected = variables(&[("B", "2"), ("C", "3"), ("X", "block")]);
        assert_eq!(compose(&outer, &global, &block), expected);
    }

    #[test]
    fn variables_of_an_enclosing_job_do_not_reach_the_ranks() {
        let outer = variables(&[("PMI_FD", "7"), ("OXMPI_RANK", "3"), ("PATH", "/bin")]);
        let block = Rules { set: variables(&[("OXMPI_SIZE", "99")]), ..Rules::default() };
        assert_eq!(compose(&outer, &Rules::default(), &block), variables(&[("PATH", "/bin")]));
    }
}
