//! Persistent sends and receives. MPI-5.0: Persistent Communication Requests.

use oxmpi_tests::programs;

programs! {
    persistent_pt2pt_cancel;
    persistent_pt2pt_free;
    persistent_pt2pt_inactive;
    persistent_pt2pt_local;
    persistent_pt2pt_mixing;
    persistent_pt2pt_modes;
    persistent_pt2pt_random on 1 2 3 5;
    persistent_pt2pt_restart;
    persistent_pt2pt_startall;
}
