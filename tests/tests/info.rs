//! Info objects.

use oxmpi_tests::{Program, programs};

programs! {
    info_memory on 1;
    info_pairs on 1 2;
}

/// Of several programs each is told about itself.
#[test]
fn a_program_is_told_how_it_was_started() {
    let program = Program::compile("info_env");
    let path = program.path().to_string_lossy().into_owned();
    let command = ["one", "two", ":", "-n", "3", "-env", "PROCS", "3", &path, "one", "two"];
    let options = ["-memory-alloc-kinds", "cuda,mpi:alloc_mem", "-env", "PROCS", "2"];
    let job = options.iter().fold(program.on(2), |job, option| job.option(option));
    let ended = command.iter().fold(job, |job, word| job.argument(word)).run();
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("passed on 5\n"), "{}", ended.out);
}

#[test]
fn what_a_program_is_told_of_its_start_fits_and_stays() {
    // Two bytes a character, so that one lies across the end of what fits.
    let long = "é".repeat(1000);
    let job = Program::compile("info_env_kept").on(2);
    job.argument("x").argument(&long).argument(&format!("x{long}")).passes();
}
