//! Every option `mpiexec` knows, with all its spellings: those of the standard, of Hydra and of Open MPI.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Portable MPI Process Startup.

/// An option: how it is spelt, what values follow it, what it sets.
pub struct Entry {
    /// Names without dashes; one or two dashes are accepted before each.
    pub names: &'static [&'static str],
    /// What the values that follow stand for, one word each.
    pub values: &'static [&'static str],
    /// What it sets.
    pub setting: Setting,
    /// What it does, for the help text; empty for spellings accepted and ignored.
    pub help: &'static str,
}

/// What an option sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the entries of the table say what each one is
pub enum Setting {
    BindTo,
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
    InitialErrhandler,
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

const fn entry(
    names: &'static [&'static str],
    values: &'static [&'static str],
    setting: Setting,
    help: &'static str,
) -> Entry {
    Entry { names, values, setting, help }
}

/// The table.
pub static ENTRIES: &[Entry] = &[
    entry(&["n", "np", "c"], &["N"], Setting::Count, "run N ranks of the program that follows (1 if absent)"),
    entry(&["wdir", "wd"], &["DIR"], Setting::Dir, "working directory of the ranks"),
    entry(
        &["path"],
        &["DIRS"],
        Setting::Path,
        "search these directories (a:b:c) for the program before PATH",
    ),
    entry(
        &["configfile"],
        &["FILE"],
        Setting::ConfigFile,
        "read the blocks of the command line from FILE, one a line",
    ),
    entry(
        &["host", "hosts", "H"],
        &["NAMES"],
        Setting::Hosts,
        "run on these hosts (only this machine for now)",
    ),
    entry(&["hostfile", "machinefile", "f"], &["FILE"], Setting::HostFile, "run on the hosts listed in FILE"),
    entry(
        &["ppn", "N", "npernode"],
        &["N"],
        Setting::PerNode,
        "ranks per node; the number of ranks where -n is absent",
    ),
    entry(&["env"], &["NAME", "VALUE"], Setting::Env, "set a variable for this block"),
    entry(&["genv"], &["NAME", "VALUE"], Setting::Genv, "set a variable for all blocks"),
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
    entry(&["output-dir"], &["DIR"], Setting::OutputDir, "write the output of rank R to DIR/rank.R"),
    entry(
        &["s", "stdin"],
        &["WHO"],
        Setting::Stdin,
        "rank that reads standard input, or all, or none (default 0)",
    ),
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
    ),
    entry(&["report-bindings"], &[], Setting::ReportBindings, "print the CPUs of each rank"),
    entry(
        &["initial-errhandler"],
        &["NAME"],
        Setting::InitialErrhandler,
        "initial error handler, such as mpi_errors_return",
    ),
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
        &["oversubscribe", "allow-run-as-root", "use-hwthread-cpus", "q", "quiet"],
        &[],
        Setting::Ignored,
        "",
    ),
    entry(&["map-by", "rank-by", "soft", "arch", "launcher", "bootstrap"], &["VALUE"], Setting::Ignored, ""),
    entry(&["mca", "gmca", "prtemca", "pmixmca"], &["NAME", "VALUE"], Setting::Ignored, ""),
];

/// The option called `name` (without dashes).
pub fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.names.contains(&name))
}

/// The known name most like `name`, if any is like it at all.
pub fn nearest(name: &str) -> Option<&'static str> {
    let all = ENTRIES.iter().flat_map(|entry| entry.names);
    let (distance, best) = all.map(|known| (distance(name, known), *known)).min()?;
    let most = 1 + name.chars().count() / 3;
    (distance <= most && distance < best.chars().count()).then_some(best)
}

/// The help text.
pub fn help(launcher: &str) -> String {
    let mut text = format!(
        "usage: {launcher} [options] program [arguments] [: [options] program [arguments]]...\n\n\
         Starts the ranks of an MPI job on this machine. Options may begin with one dash or two.\n\n"
    );
    for entry in ENTRIES.iter().filter(|entry| !entry.help.is_empty()) {
        let names: Vec<String> = entry.names.iter().map(|name| format!("-{name}")).collect();
        let left = format!("{} {}", names.join(", "), entry.values.join(" "));
        text += &format!("  {left:<34} {}\n", entry.help);
    }
    let ignored = ENTRIES.iter().filter(|entry| entry.setting == Setting::Ignored);
    let names: Vec<String> = ignored.flat_map(|entry| entry.names).map(|name| format!("-{name}")).collect();
    text += "\nAccepted and without effect:";
    for line in names.chunks(8) {
        text += &format!("\n  {}", line.join(" "));
    }
    text + EXIT_STATUS
}

const EXIT_STATUS: &str = "

Exit status:
  0    all is well
  K    the first rank that failed exited with K, or called MPI_Abort with code K
  1    a rank left with status 0 between MPI_Init and MPI_Finalize, or never joined
  124  time limit
  125  the launcher's own failure
  126  a program is not executable
  127  a program was not found
  128+S  a rank died by signal S, or the launcher was told to stop by signal S

SIGQUIT (Ctrl-\\) prints what every rank is doing.
";

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
        let mut names: Vec<&str> = ENTRIES.iter().flat_map(|entry| entry.names).copied().collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
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
