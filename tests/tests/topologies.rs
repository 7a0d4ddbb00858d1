//! Process topologies.

use oxmpi_tests::programs;

programs! {
    topo_cart;
    topo_cart_sub;
    topo_dims;
    topo_dist_graph;
    topo_dist_graph_errors;
    topo_dup;
    topo_errors;
    topo_graph;
}
