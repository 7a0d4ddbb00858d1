//! Reductions by all instructions that this processor has, chosen by `OXMPI_COMBINE`, and of infinite complex numbers.

use oxmpi_op::instructions;
use oxmpi_tests::Program;

#[test]
fn all_instructions_serve_collectives() {
    let program = Program::compile("collective_random");
    for name in instructions() {
        program.on(3).env("OXMPI_COMBINE", name).passes();
    }
}

#[test]
fn unknown_instructions_end_the_job_and_the_known_ones_are_named() {
    let ended = Program::compile("init_hello").on(2).env("OXMPI_COMBINE", "mmx").run();
    assert_ne!(ended.status, Some(0));
    for word in ["OXMPI_COMBINE", "\"mmx\"", "common"] {
        assert!(ended.err.contains(word), "{}", ended.err);
    }
}

#[test]
fn complex_products_recover_infinities_when_asked() {
    let program = Program::compile("op_infinities");
    program.on(3).passes();
    program.on(3).env("OXMPI_INFINITIES", "1").argument("recovered").passes();
}
