//! Messages between ranks. MPI-5.0: Point-to-Point Communication.

use oxmpi_tests::{Program, programs};

programs! {
    pt2pt_buffers;
    pt2pt_cancel;
    pt2pt_cancel_threads on 1 2;
    pt2pt_deep on 1 3;
    pt2pt_empty;
    pt2pt_floods on 2 3;
    pt2pt_huge on 2;
    pt2pt_isendrecv;
    pt2pt_modes;
    pt2pt_mprobe;
    pt2pt_order;
    pt2pt_probe;
    pt2pt_proc_null;
    pt2pt_random;
    pt2pt_sendrecv;
    pt2pt_shown on 2 5;
    pt2pt_sizes;
    pt2pt_threads on 1 2 3;
    pt2pt_truncation;
    pt2pt_unexpected;
    pt2pt_wildcards;
}

/// Where next to nothing is kept that nobody asks for, most messages are shown, asked for and sent again.
#[test]
fn programs_pass_where_envelopes_are_not_kept() {
    let programs =
        ["pt2pt_shown", "pt2pt_floods", "pt2pt_mprobe", "pt2pt_probe", "pt2pt_random", "pt2pt_threads"];
    for name in programs {
        Program::compile(name).on(5).env("OXMPI_KEEP_BYTES", "20000").passes();
    }
}
