//! Completing requests of every kind. MPI-5.0: Communication Completion, Multiple Completions.

use oxmpi_tests::programs;

programs! {
    request_all;
    request_any;
    request_errors;
    request_generalized;
    request_misuse;
    request_mixed;
    request_some;
    request_startall;
    request_status;
}
