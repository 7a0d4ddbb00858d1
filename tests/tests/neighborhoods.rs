//! Collectives among neighbours, in every lifetime.
//! MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies.

use oxmpi_tests::programs;

programs! {
    neighbor_cart;
    neighbor_graph;
    neighbor_two on 2 3;
}
