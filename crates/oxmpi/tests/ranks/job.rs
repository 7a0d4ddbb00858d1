//! Running a test function on the ranks of a job.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output};

use oxmpi::Environment;

/// Numbers of ranks that every test runs with.
pub const RANKS: [usize; 6] = [1, 2, 3, 4, 7, 8];
/// In the environment of a rank.
const MARK: &str = "OXMPI_TEST_RANK";
const TIMEOUT_S: &str = "60";

/// Runs `body` on the ranks of jobs of several sizes; `name` is the path of the test that calls this.
pub fn on_ranks(name: &str, body: impl FnOnce(&Environment) -> oxmpi::Result<()>) {
    if is_rank() {
        let env = oxmpi::init().expect("the launcher has made a job");
        body(&env).expect("the test's calls succeed");
        return;
    }
    for ranks in RANKS {
        let output = start(name, ranks);
        assert!(output.status.success(), "{ranks} ranks: {}\n{}", output.status, text(&output));
    }
}

/// Whether this process is a rank of a test.
pub fn is_rank() -> bool {
    env::var_os(MARK).is_some()
}

/// Starts the test `name` on so many ranks and waits for the job.
pub fn start(name: &str, ranks: usize) -> Output {
    let this = env::current_exe().expect("this program has a path");
    Command::new(mpiexec())
        .args(["--timeout", TIMEOUT_S, "-n", &ranks.to_string()])
        .arg(this)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .env("OXMPI_GRACE", TIMEOUT_S) // on a loaded machine a rank may take long to end by itself
        .output()
        .expect("mpiexec can be started")
}

/// What a job has said.
pub fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("\n")
}

fn mpiexec() -> PathBuf {
    let this = env::current_exe().expect("this program has a path");
    let folder = this.ancestors().nth(2).expect("tests lie in a folder of the build folder");
    let path = folder.join("mpiexec");
    assert!(path.exists(), "{} is missing: run `cargo build` first", path.display());
    path
}
