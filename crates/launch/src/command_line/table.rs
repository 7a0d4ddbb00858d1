//! Every option `mpiexec` knows, with all its spellings: those of the standard, of Hydra and of Open MPI.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Portable MPI Process Startup.

use oxmpi_manual::{Dashes, Entry, FORMATS, Manual, Section, Values};

/// An option: how it is written, and what it sets.
pub struct Known {
    /// Its spellings, its values and what it does.
    pub entry: Entry,
    /// What it sets.
    pub setting: Setting,
}

/// What an option sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the entries of the table say what each one is
pub enum Setting {
    BindTo,
    BranchCount,
    ConfigFile,
    Count,
    Dir,
    Env,
    EnvAll,
    EnvList,
    EnvNone,
    Export,
    Genv,
    GenvAll,
    GenvList,
    GenvNone,
    HangAfter,
    Help,
    HostFile,
    Hosts,
    Ignored,
    Interface,
    InitialErrhandler,
    Launcher,
    Manual,
    MemoryAllocKinds,
    OutputDir,
    Path,
    PerNode,
    ReportBindings,
    Stdin,
    Tag,
    TimeLimit,
    Timestamp,
    Verbose,
    Version,
}

/// What ranks begin with, in whatever case.
pub(super) const ERRHANDLERS: [&str; 3] = ["mpi_errors_abort", "mpi_errors_are_fatal", "mpi_errors_return"];

const fn entry(
    names: &'static [&'static str],
    values: &'static [&'static str],
    setting: Setting,
    help: &'static str,
) -> Known {
    Known { entry: Entry::new(names, values, help), setting }
}

impl Known {
    const fn completes(self, values: Values) -> Self {
        Self { entry: self.entry.completes(values), ..self }
    }
}

/// The table.
pub static ENTRIES: &[Known] = &[
    entry(
        &["n", "np", "c"],
        &["N"],
        Setting::Count,
        "run N ranks of the program that follows (if absent 1, or what hosts have room for)",
    ),
    entry(&["wdir", "wd"], &["DIR"], Setting::Dir, "working directory of the ranks")
        .completes(Values::Directories),
    entry(
        &["path"],
        &["DIRS"],
        Setting::Path,
        "search these directories (a:b:c) for the program before PATH",
    )
    .completes(Values::Directories),
    entry(
        &["configfile"],
        &["FILE"],
        Setting::ConfigFile,
        "read the blocks of the command line from FILE, one a line; options of a block stand there",
    )
    .completes(Values::Files),
    entry(
        &["host", "hosts", "H"],
        &["NAMES"],
        Setting::Hosts,
        "run on these hosts, each with room for as many ranks as it says (a:2,b:4); where several blocks \
         name hosts, each runs on its own",
    ),
    entry(&["hostfile", "machinefile", "f"], &["FILE"], Setting::HostFile, "run on the hosts listed in FILE")
        .completes(Values::Files),
    entry(
        &["launcher", "bootstrap"],
        &["HOW"],
        Setting::Launcher,
        "start agents on hosts by ssh, srun (nodes of a job of Slurm's), fork (all here), or a command \
         before the host's name",
    )
    .completes(Values::Words(&["ssh", "srun", "fork"])),
    entry(
        &["branch-count"],
        &["N"],
        Setting::BranchCount,
        "with more hosts than N (32), let as many as the root of their number start agents on the others",
    ),
    entry(
        &["iface"],
        &["NAME"],
        Setting::Interface,
        "interface, or address, of this machine at which other hosts find it, instead of that by which it \
         finds them",
    ),
    entry(
        &["ppn", "N", "npernode"],
        &["N"],
        Setting::PerNode,
        "ranks per node; the number of ranks, or of those of each host, where -n is absent",
    ),
    entry(&["env"], &["NAME", "VALUE"], Setting::Env, "set a variable for this block; also NAME=VALUE"),
    entry(&["genv"], &["NAME", "VALUE"], Setting::Genv, "set a variable for all blocks; also NAME=VALUE"),
    entry(&["x"], &["NAME[=VALUE]"], Setting::Export, "pass on, or set, a variable for this block"),
    entry(&["envlist"], &["NAMES"], Setting::EnvList, "this block inherits only these variables (a,b,c)"),
    entry(&["genvlist"], &["NAMES"], Setting::GenvList, "all blocks inherit only these variables (a,b,c)"),
    entry(&["envnone"], &[], Setting::EnvNone, "this block inherits no variable"),
    entry(&["genvnone"], &[], Setting::GenvNone, "no block inherits any variable"),
    entry(&["envall"], &[], Setting::EnvAll, "this block inherits all variables (default)"),
    entry(&["genvall"], &[], Setting::GenvAll, "all blocks inherit all variables (default)"),
    entry(&["l", "prepend-rank", "tag-output"], &[], Setting::Tag, "begin each line of output with its rank"),
    entry(
        &["timestamp", "timestamp-output"],
        &[],
        Setting::Timestamp,
        "begin each line of output with the time (UTC)",
    ),
    entry(
        &["output-dir"],
        &["DIR"],
        Setting::OutputDir,
        "write the output of rank R to DIR/rank.R, of spawned jobs to DIR/job.J.rank.R; R has as many digits \
         as that of the last rank (rank.03 of 12)",
    )
    .completes(Values::Directories),
    entry(
        &["s", "stdin"],
        &["WHO"],
        Setting::Stdin,
        "rank that reads standard input, or all, or none (default 0)",
    )
    .completes(Values::Words(&["all", "none"])),
    entry(
        &["timeout"],
        &["SECONDS"],
        Setting::TimeLimit,
        "end the job after this time (also MPIEXEC_TIMEOUT)",
    ),
    entry(
        &["hang-after"],
        &["SECONDS"],
        Setting::HangAfter,
        "after this time print what every rank is doing",
    ),
    entry(
        &["bind-to"],
        &["WHAT"],
        Setting::BindTo,
        "share (default: each rank its share of the CPUs), core, hwthread, numa, socket, none",
    )
    .completes(Values::Words(&["share", "core", "hwthread", "numa", "socket", "none"])),
    entry(&["report-bindings"], &[], Setting::ReportBindings, "print the CPUs of each rank"),
    entry(
        &["initial-errhandler"],
        &["NAME"],
        Setting::InitialErrhandler,
        "initial error handler, such as mpi_errors_return",
    )
    .completes(Values::Words(&ERRHANDLERS)),
    entry(
        &["memory-alloc-kinds"],
        &["KINDS"],
        Setting::MemoryAllocKinds,
        "kinds of memory the program asks for",
    ),
    entry(&["v", "verbose"], &[], Setting::Verbose, "tell what is done and what is ignored"),
    entry(&["V", "version"], &[], Setting::Version, "print the version"),
    entry(&["h", "help"], &[], Setting::Help, "print this text"),
    entry(
        &["manual"],
        &["FORMAT"],
        Setting::Manual,
        "print the manual page (man), or completion for a shell (bash, zsh, fish)",
    )
    .completes(Values::Words(FORMATS)),
    entry(
        &["oversubscribe", "allow-run-as-root", "use-hwthread-cpus", "q", "quiet"],
        &[],
        Setting::Ignored,
        "",
    ),
    entry(&["map-by", "rank-by", "soft", "arch"], &["VALUE"], Setting::Ignored, ""),
    entry(&["mca", "gmca", "prtemca", "pmixmca"], &["NAME", "VALUE"], Setting::Ignored, ""),
];

/// The option called `name` (without dashes).
pub fn find(name: &str) -> Option<&'static Known> {
    ENTRIES.iter().find(|known| known.entry.names.contains(&name))
}

/// The known name most like `name`, if any is like it at all.
pub fn nearest(name: &str) -> Option<&'static str> {
    let all = ENTRIES.iter().flat_map(|known| known.entry.names);
    let (distance, best) = all.map(|known| (distance(name, known), *known)).min()?;
    let most = 1 + name.chars().count() / 3;
    (distance <= most && distance < best.chars().count()).then_some(best)
}

/// What `form` makes of the manual of `launcher`.
pub fn manual<T>(launcher: &str, form: impl FnOnce(&Manual) -> T) -> T {
    let options: Vec<Entry> = ENTRIES.iter().map(|known| known.entry).collect();
    let other = if launcher == "mpirun" { "mpiexec" } else { "mpirun" };
    form(&Manual {
        names: &[launcher, other],
        purpose: "Starts the ranks of an MPI job",
        usage: &["[options] program [arguments] [: [options] program [arguments]]..."],
        about: "Options may begin with one dash or two, and a single value may be joined by =.",
        dashes: Dashes::Any,
        options: &options,
        operands: Values::Program,
        commands: &[],
        sections: SECTIONS,
    })
}

const SECTIONS: &[Section] = &[
    Section {
        title: "Exit status",
        rows: &[
            ("0", "all is well"),
            ("K", "the first rank that failed exited with K, or called MPI_Abort with code K"),
            ("K", "also: the code of an error that nobody handled"),
            ("1", "a rank left with status 0 between MPI_Init and MPI_Finalize, or never joined"),
            ("1", "also: a rank waited for one that had left, and none failed; or a host was lost"),
            ("124", "time limit"),
            ("125", "the launcher's own failure, or output that could not be written"),
            ("126", "a program is not executable"),
            ("127", "a program was not found"),
            ("128+S", "a rank died by signal S, or the launcher was told to stop by signal S"),
            ("141", "also: whoever read the output has gone"),
        ],
    },
    Section {
        title: "Signals",
        rows: &[
            ("SIGQUIT (Ctrl-\\)", "print what every rank is doing"),
            ("SIGINT, SIGTERM, SIGHUP", "end the job; a second one kills it"),
            ("SIGUSR1, SIGUSR2", "passed on to the ranks"),
        ],
    },
    Section {
        title: "Environment",
        rows: &[
            ("MPIEXEC_TIMEOUT", "the time limit in seconds, where --timeout is absent"),
            ("OXMPI_ALGORITHMS", "read by the ranks: algorithms to prefer, collective=algorithm,..."),
            ("OXMPI_CHECK", "read by the ranks: 1 compares types in collectives, names forgotten requests"),
            ("OXMPI_CONNECT_TIMEOUT", "read by the ranks: seconds to wait to be accepted at a port (180)"),
            (
                "OXMPI_FABRIC",
                "read by the ranks: the network between nodes, as tcp or tcp/eth0 (the fastest)",
            ),
            ("OXMPI_INFINITIES", "read by the ranks: 1 recovers infinities in products of complex numbers"),
            ("OXMPI_KEEP_BYTES", "read by the ranks: bytes kept of messages that nobody asks for (67108864)"),
            ("OXMPI_MACHINE", "read by the ranks: a file with what hops and copies cost (see oxmpi tune)"),
            (
                "OXMPI_PROGRESS",
                "read by the ranks: thread or auto: long operations go on between calls (poll)",
            ),
            ("OXMPI_SHOW_FABRIC", "read by the ranks: 1 tells which network they use between nodes"),
            ("OXMPI_SHOW_PLANS", "read by rank 0: 1 tells which algorithm a persistent collective gets"),
            (
                "OXMPI_SINGLE_COPY",
                "read by the ranks: always or never: long data is read out of peers' memory (auto)",
            ),
            (
                "OXMPI_REPRODUCIBLE",
                "read by the ranks: 1 makes the bits of reductions depend on data and ranks alone",
            ),
            ("OXMPI_COMBINE", "read by the ranks: how vectors are combined, instead of the best way"),
            ("OXMPI_COPY", "read by the ranks: how memory is copied, instead of the best way"),
            ("OXMPI_ERRORS_TO", "read by the ranks: self sends errors without an object to MPI_COMM_SELF"),
            ("OXMPI_GRACE", "seconds that ranks have to end by themselves when one has left too early (1)"),
            ("OXMPI_MPIEXEC", "read by a process without a launcher: what it starts to have others spawned"),
            (
                "SLURM_JOB_NODELIST, PBS_NODEFILE",
                "the hosts where none is named, with as much room as Slurm or PBS says",
            ),
            ("OXMPI_RANK, OXMPI_SIZE", "set for the ranks, as are PMI_RANK and PMI_SIZE"),
            (
                "OXMPI_LOCAL_RANK, OXMPI_LOCAL_SIZE",
                "the same on one machine, as MPI_LOCALRANKID, MPI_LOCALNRANKS",
            ),
        ],
    },
];

/// Number of insertions, deletions, replacements and swaps of neighbours that make `left` into `right`.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_listed_twice() {
        let mut names: Vec<&str> = ENTRIES.iter().flat_map(|known| known.entry.names).copied().collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn the_manual_and_the_readme_name_the_same_variables() {
        let readme = include_str!("../../../../README.md");
        let (_, table) = readme.split_once("| variable | meaning |").expect("the table of variables");
        let rows = table.lines().skip(2).map_while(|row| row.strip_prefix("| `")?.split_once('`'));
        let mut told: Vec<&str> = rows.map(|(name, _)| name).collect();
        let section = SECTIONS.iter().find(|section| section.title == "Environment").expect("a section");
        // The others are set for the ranks.
        let read = section.rows.iter().map(|(names, _)| *names).filter(|names| !names.contains(','));
        let mut read: Vec<&str> = read.collect();
        read.sort_unstable();
        told.sort_unstable();
        assert_eq!(read, told);
    }

    #[test]
    fn typing_errors_find_the_option_that_was_meant() {
        for (typed, meant) in [
            ("timeuot", "timeout"),
            ("tag-outptu", "tag-output"),
            ("bindto", "bind-to"),
            ("hosst", "host"),
            ("wdri", "wdir"),
        ] {
            let found = nearest(typed).expect(typed);
            assert!(distance(found, meant) <= 1, "{typed} found {found}");
        }
        assert_eq!(nearest("zzzzzzzzzzzz"), None);
        assert_eq!(nearest("z"), None, "one letter is like any other");
    }

    #[test]
    fn distance_counts_a_swap_of_neighbours_once() {
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "abxd"), 1);
    }
}
