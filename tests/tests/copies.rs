//! Every way to copy memory that runs on this processor, chosen by `OXMPI_COPY`.

use oxmpi_mem::copy::copies;
use oxmpi_tests::Program;

fn try_all(program: &str) {
    let program = Program::compile(program);
    for copy in copies() {
        program.on(3).env("OXMPI_COPY", copy).passes();
    }
}

#[test]
fn every_copy_serves_collectives() {
    try_all("collective_random");
}

#[test]
fn every_copy_serves_long_collectives() {
    try_all("collective_bcast");
}

#[test]
fn every_copy_serves_strided_messages() {
    try_all("datatype_pt2pt");
}

#[test]
fn an_unknown_copy_ends_the_job_and_names_the_known_ones() {
    let ended = Program::compile("init_hello").on(2).env("OXMPI_COPY", "avx").run();
    assert_ne!(ended.status, Some(0));
    for word in ["OXMPI_COPY", "\"avx\"", "portable"] {
        assert!(ended.err.contains(word), "{}", ended.err);
    }
}
