//! Every algorithm of every collective, chosen by `OXMPI_ALGORITHMS`, in every lifetime.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use oxmpi_plan::Collective;
use oxmpi_tests::{Job, Program, has_libfabric, prefix};

/// Ranks on which every algorithm is tried: a power of two, and a number that is none.
const RANKS: [u32; 2] = [3, 4];

/// Runs the program of the collective by each of its algorithms.
fn try_all(collective: Collective) {
    try_with(&format!("collective_{}", collective.name()), collective);
}

fn try_with(program: &str, collective: Collective) {
    let name = collective.name();
    let program = Program::compile(program);
    for algorithm in collective.info().within {
        for ranks in RANKS {
            let choice = format!("{name}={}", algorithm.name());
            program.on(ranks).env("OXMPI_ALGORITHMS", &choice).passes();
        }
    }
}

#[test]
fn allgather() {
    try_all(Collective::Allgather);
}

#[test]
fn allreduce() {
    try_all(Collective::Allreduce);
}

#[test]
fn alltoall() {
    try_all(Collective::Alltoall);
}

#[test]
fn barrier() {
    try_all(Collective::Barrier);
}

#[test]
fn bcast() {
    try_all(Collective::Bcast);
}

#[test]
fn exscan() {
    try_all(Collective::Exscan);
}

#[test]
fn gather() {
    try_all(Collective::Gather);
}

#[test]
fn reduce() {
    try_all(Collective::Reduce);
}

#[test]
fn reduce_scatter() {
    try_with("collective_reduce_scatter", Collective::ReduceScatterBlock);
}

#[test]
fn reduce_scatter_block() {
    try_all(Collective::ReduceScatterBlock);
}

#[test]
fn scan() {
    try_all(Collective::Scan);
}

#[test]
fn scatter() {
    try_all(Collective::Scatter);
}

#[test]
fn all_between_two_groups() {
    let program = Program::compile("intercomm_collectives");
    for collective in Collective::ALL {
        for algorithm in collective.info().between {
            let choice = format!("inter-{}={}", collective.name(), algorithm.name());
            program.on(5).env("OXMPI_ALGORITHMS", &choice).passes();
        }
    }
}

/// Algorithms that need a commutative operation leave it to the others.
#[test]
fn operations_of_the_program() {
    try_with("op_user", Collective::Allreduce);
    try_with("op_user", Collective::Reduce);
}

#[test]
fn a_variable_that_cannot_be_read_is_the_cause_each_time() {
    let ended = Program::compile("init_retried").on(2).env("OXMPI_ALGORITHMS", "allreduce=rign").run();
    assert_eq!((ended.status, ended.out.matches("refused twice").count()), (Some(0), 2), "{}", ended.err);
}

#[test]
fn an_unknown_algorithm_ends_the_job_and_names_the_known_ones() {
    let ended = Program::compile("init_hello").on(2).env("OXMPI_ALGORITHMS", "allreduce=rign").run();
    assert_ne!(ended.status, Some(0));
    assert!(ended.err.contains("rign") && ended.err.contains("recursive-doubling"), "{}", ended.err);
}

/// What the job of a program says of its broadcasts: bytes, root, and the algorithm.
fn broadcasts(said: &str) -> Vec<(u64, &str, &str)> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("oxmpi: MPI_Bcast_init ("));
    lines
        .map(|line| {
            let (bytes, rest) = line.split_once(" bytes, root ").expect("a broadcast has both");
            let (root, rest) = rest.split_once(')').expect("it is in brackets");
            let (_, rest) = rest.split_once("ranks: ").expect("it is said of a communicator");
            let (algorithm, _) = rest.split_once(" (").expect("with a reason");
            (bytes.parse().expect("a number"), root, algorithm)
        })
        .collect()
}

#[test]
fn a_job_takes_what_a_file_prefers_and_plan_says_the_same() {
    let program = Program::compile("collective_bcast");
    let file = prefix().join("tests/preferred_algorithms");
    let text = "# The last line that fits holds.\n\
                bcast = node-tree\n\
                bcast ranks 4.. bytes 1000..65535 = binomial # 4000 among 4\n\
                bcast bytes 65536..100000 = scatter-allgather\n";
    fs::write(&file, text).expect("the prefix can be written to");
    let named = format!("@{}", file.display());
    for (ranks, short) in [(3, "node-tree"), (4, "binomial")] {
        let ended = program.on(ranks).env("OXMPI_ALGORITHMS", &named).env("OXMPI_SHOW_PLANS", "1").run();
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let taken = broadcasts(&ended.err);
        let of = |length| taken.iter().find(|(bytes, ..)| *bytes == length).map(|taken| taken.2);
        let found = [4, 4000, 80_044, 400_000].map(of);
        assert_eq!(found, ["node-tree", short, "scatter-allgather", "node-tree"].map(Some), "{}", ended.err);
        for (bytes, root, algorithm) in taken.into_iter().filter(|(bytes, ..)| *bytes > 0) {
            let mut plan = Command::new(prefix().join("bin/oxmpi"));
            plan.args(["plan", "bcast", "--rank", "0", "--root", root, "--algorithms", &named]);
            plan.args(["-n", &ranks.to_string(), "--bytes", &bytes.to_string(), "--unit", "1"]);
            let told = plan.output().expect("it is installed").stdout;
            let told = String::from_utf8_lossy(&told);
            let title = told.lines().next().unwrap_or("");
            assert!(title.ends_with(&format!(" by {algorithm}")), "{bytes} from {root}: {title}");
        }
    }
    let missing = program.on(2).env("OXMPI_ALGORITHMS", "@/nowhere/at/all").run();
    assert!(missing.status != Some(0) && missing.err.contains("/nowhere/at/all"), "{}", missing.err);
}

#[test]
fn a_choice_that_is_no_text_is_refused() {
    let program = Program::compile("init_hello");
    let mut command = Command::new(program.path());
    command.env_remove("LD_LIBRARY_PATH").env("OXMPI_ALGORITHMS", OsStr::from_bytes(b"bcast=\xff"));
    let output = command.output().expect("the program was compiled");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("'bcast=\u{fffd}' names an unknown algorithm"),
        "{said}"
    );
}

/// Lets one rank have another value of a variable.
fn by_shell(assignment: &str) -> [String; 3] {
    let command = format!("if [ $OXMPI_RANK = 1 ]; then export {assignment}; fi; exec \"$0\" \"$@\"");
    ["sh".to_owned(), "-c".to_owned(), command]
}

#[test]
fn ranks_with_different_settings_are_told_so_when_they_begin() {
    let program = Program::compile("init_hello");
    are_told_so(|| program.on(3));
}

/// The one that has others is beside the first rank of its host, or is that of the second.
#[test]
fn ranks_of_several_hosts_with_different_settings_are_told_so_when_they_begin() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("init_hello");
    for hosts in ["left:2,right:1", "left:1,right:2"] {
        are_told_so(|| program.on(3).over(hosts));
    }
}

/// The parent has its own, and what it spawns those of the launcher.
#[test]
fn jobs_with_different_settings_are_told_so_when_they_meet() {
    let shell = ["sh", "-c", "export OXMPI_REPRODUCIBLE=1; exec \"$0\" \"$@\""];
    let ended = Program::compile("dynamic_spawn").on(1).by(&shell).run();
    assert_ne!(ended.status, Some(0), "{}", ended.out);
    let told = "this group has OXMPI_REPRODUCIBLE=1, the other group has nothing";
    assert!(ended.err.contains(told), "{}", ended.err);
}

/// Runs jobs of three ranks whose rank 1 is told something else than the others, and one where it is told the same.
fn are_told_so(job: impl Fn() -> Job) {
    for (everybody, one) in [
        ("OXMPI_ALGORITHMS=bcast=binomial", "OXMPI_ALGORITHMS=allreduce=ring"),
        ("OXMPI_ALGORITHMS=", "OXMPI_ALGORITHMS=allreduce=ring"),
        ("OXMPI_CHECK=1", "OXMPI_CHECK="),
        ("OXMPI_INFINITIES=1", "OXMPI_INFINITIES="),
        ("OXMPI_REPRODUCIBLE=0", "OXMPI_REPRODUCIBLE=1"),
    ] {
        let (name, value) = everybody.split_once('=').expect("an assignment");
        let shell = by_shell(one);
        let ended = job().env(name, value).by(&shell.each_ref().map(String::as_str)).run();
        assert_ne!(ended.status, Some(0), "{one}: {}", ended.out);
        assert!(ended.err.contains("ranks must have the same OXMPI_ALGORITHMS"), "{one}: {}", ended.err);
        for told in [everybody, one].into_iter().filter(|told| !told.ends_with('=')) {
            assert!(ended.err.contains(told), "{told}: {}", ended.err);
        }
    }
    let shell = by_shell("OXMPI_ALGORITHMS=bcast=binomial");
    let same = job().env("OXMPI_ALGORITHMS", "bcast=binomial").by(&shell.each_ref().map(String::as_str));
    same.passes();
}

#[test]
fn a_switch_is_on_or_off() {
    let ended = Program::compile("init_hello").on(1).env("OXMPI_CHECK", "yes").run();
    assert_ne!(ended.status, Some(0));
    assert!(ended.err.contains("OXMPI_CHECK is 'yes'"), "{}", ended.err);
}

#[test]
fn reproducible_results_depend_on_no_preference_and_no_place() {
    let program = Program::compile("reproducible_bits");
    let preferred = "allreduce=recursive-doubling,reduce=binomial";
    for ranks in [3, 4, 7] {
        let usual = bits(program.on(ranks));
        let other = bits(program.on(ranks).env("OXMPI_ALGORITHMS", preferred));
        assert_ne!(usual, other, "the program shows no brackets");
        let reproducible = || program.on(ranks).env("OXMPI_REPRODUCIBLE", "1");
        let job = reproducible().env("OXMPI_ALGORITHMS", preferred);
        assert_eq!(bits(job.option("-bind-to").option("none")), bits(reproducible()));
    }
}

#[test]
fn reproducible_results_do_not_depend_on_which_ranks_share_a_host() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("reproducible_bits");
    for (ranks, maps) in
        [(4, ["a:2,b:2", "a:1,b:3", "a,b,c,d"]), (6, ["a:3,b:3", "a:4,b:1,c:1", "a:1,b:4,c:1"])]
    {
        let reproducible = || program.on(ranks).env("OXMPI_REPRODUCIBLE", "1");
        let here = bits(reproducible());
        for map in maps {
            assert_eq!(bits(reproducible().over(map)), here, "{map}");
        }
    }
}

/// What a job prints of the bits of its results.
fn bits(job: Job) -> String {
    let ended = job.run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    ended.out
}
