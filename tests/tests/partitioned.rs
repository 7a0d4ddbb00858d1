//! Partitioned sends and receives. MPI-5.0: Partitioned Point-to-Point Communication.

use oxmpi_tests::programs;

programs! {
    partitioned_arrived;
    partitioned_errors;
    partitioned_order;
    partitioned_restart;
    partitioned_threads;
}
