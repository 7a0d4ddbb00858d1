//! Options as users type them.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::run::{mpiexec, shells};

#[test]
fn an_unknown_option_is_refused_and_the_nearest_one_named() {
    let ended = mpiexec(&["--tag-outptu", "true"]);
    assert_eq!((ended.status, ended.out.as_str()), (Some(125), ""));
    assert_eq!(ended.err, "mpiexec: unknown option --tag-outptu; did you mean --tag-output?\n");
}

#[test]
fn a_command_line_without_a_program_is_refused() {
    let ended = mpiexec(&["-n", "2"]);
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("no program"), "{}", ended.err);
}

#[test]
fn a_directory_that_is_missing_is_the_launchers_own_failure() {
    let ended = shells(2, &["-wdir", "/no/such/dir"], "exit 0");
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("/no/such/dir"), "{}", ended.err);
}

#[test]
fn this_machine_is_accepted_under_its_names_and_who_is_not_found_is_refused() {
    let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
    for host in ["localhost", "127.0.0.1", "::1", "localhost:8", &own] {
        assert_eq!(shells(2, &["-host", host], "exit 0").status, Some(0), "{host}");
    }
    let ended = shells(2, &["-hosts", "localhost,elsewhere.invalid"], "exit 0");
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("cannot find a way to host elsewhere.invalid"), "{}", ended.err);
}

#[test]
fn more_ranks_than_cores_are_welcome() {
    let ranks = 4 * u32::try_from(std::thread::available_parallelism().expect("some").get()).expect("few");
    let ended = shells(ranks, &[], "echo x");
    assert_eq!((ended.status, ended.out.lines().count()), (Some(0), ranks as usize));
    assert_eq!(ended.err, "");
    let verbose = shells(ranks, &["-v"], "exit 0");
    assert!(verbose.err.contains("ranks take turns on"), "{}", verbose.err);
}

#[test]
fn options_of_other_launchers_are_accepted_and_named_when_asked() {
    let options = [
        "--oversubscribe",
        "--allow-run-as-root",
        "--map-by",
        "node",
        "--mca",
        "btl",
        "self",
        "-soft",
        "1:4",
    ];
    assert_eq!(shells(1, &options, "exit 0").err, "");
    let verbose = shells(1, &[&options[..], &["-v"]].concat(), "exit 0");
    assert!(verbose.err.contains("--mca btl self has no effect here"), "{}", verbose.err);
}

#[test]
fn help_and_version_go_to_the_output() {
    let help = mpiexec(&["--help"]);
    assert_eq!((help.status, help.err.as_str()), (Some(0), ""));
    assert!(help.out.contains("--report-bindings") || help.out.contains("-report-bindings"), "{}", help.out);
    let version = mpiexec(&["-V"]);
    assert!(version.out.starts_with("mpiexec (oxmpi) "), "{}", version.out);
}

#[test]
fn the_manual_is_printed_in_every_form() {
    for (format, said) in
        [("man", ".SH SYNOPSIS"), ("bash", "complete -o"), ("zsh", "#compdef"), ("fish", "complete -c")]
    {
        let manual = mpiexec(&["--manual", format]);
        assert_eq!((manual.status, manual.err.as_str()), (Some(0), ""));
        assert!(manual.out.contains(said) && manual.out.contains("report"), "{}", manual.out);
    }
    let ended = mpiexec(&["--manual=tex"]);
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("--manual tex: it must be man, bash, zsh or fish"), "{}", ended.err);
}

#[test]
fn the_program_may_be_searched_in_a_given_path() {
    assert_eq!(mpiexec(&["-path", "/bin", "-genvnone", "true"]).status, Some(0));
}

#[test]
fn a_configuration_file_gives_the_blocks() {
    let path = std::env::temp_dir().join(format!("oxmpi-config-{}", std::process::id()));
    fs::write(&path, "# two blocks\n-n 1 echo one\n-n 2 echo \"two words\"\n")
        .expect("a place for temporary files");
    let ended = mpiexec(&["-l", "-configfile", path.to_str().expect("a path of letters")]);
    fs::remove_file(&path).expect("my own file");
    assert_eq!(ended.sorted(), ["[0] one", "[1] two words", "[2] two words"]);
}

#[test]
fn mpirun_is_the_same_program_under_its_own_name() {
    let mut mpirun = std::process::Command::new(env!("CARGO_BIN_EXE_mpiexec"));
    let output = mpirun.arg0("/anywhere/mpirun").arg("--nonsense").output();
    let text = String::from_utf8(output.expect("mpiexec is built").stderr).expect("text");
    assert!(text.starts_with("mpirun: unknown option"), "{text}");
}
