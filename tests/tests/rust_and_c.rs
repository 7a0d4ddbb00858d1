//! A Rust program and the C library that it is linked with: one engine, or a clear refusal. `cargo xtask test` builds
//! both programs of `tests/rust_and_c`.

use oxmpi_tests::{Program, RANKS};

#[test]
fn rust_and_c_share_one_world() {
    Program::built("rust_shares_with_c").passes_on(&RANKS);
}

#[test]
fn where_c_says_that_there_is_one_thread_rust_begins_in_no_other() {
    for ranks in [1, 2] {
        Program::built("rust_shares_with_c").on(ranks).argument("confined").passes();
    }
}

#[test]
fn two_engines_in_one_process_are_refused() {
    for ranks in [1, 2, 3] {
        let ended = Program::built("rust_beside_c").on(ranks).run();
        assert_ne!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.err.contains("by another copy of oxmpi in it"), "{}", ended.err);
        assert!(ended.err.contains("feature `c`"), "{}", ended.err);
    }
}
