//! Attributes of communicators and datatypes.

use oxmpi_tests::{Program, programs};

programs! {
    attr_comm;
    attr_finalize;
    attr_predefined;
    attr_type;
}

/// MPI-5.0: Process Initialization, Creation, and Management, `MPI_APPNUM`.
#[test]
fn programs_of_one_command_are_numbered() {
    let program = Program::compile("attr_predefined");
    let path = program.path().to_string_lossy().into_owned();
    let command = ["0", ":", "-n", "1", &path, "1", ":", "-n", "2", &path, "2"];
    let job = command.iter().fold(program.on(2), |job, word| job.argument(word));
    let ended = job.run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("passed on 5\n"), "{}", ended.out);
}
