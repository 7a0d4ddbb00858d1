//! Attributes of communicators and datatypes.

use oxmpi_tests::{Program, programs};

programs! {
    attr_comm;
    attr_finalize;
    attr_threads on 1 2;
    attr_type;
}

#[test]
fn predefined_attributes_are_there_and_programs_of_one_command_are_numbered() {
    let program = Program::compile("attr_predefined");
    program.passes_on(&[]);
    let path = program.path().to_string_lossy().into_owned();
    let command = ["0", ":", "-n", "1", &path, "1", ":", "-n", "2", &path, "2"];
    let ended = command.iter().fold(program.on(2), |job, word| job.argument(word)).run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("passed on 5\n"), "{}", ended.out);
    let ended = program.on(3).over("a:2,b:1").run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
}
