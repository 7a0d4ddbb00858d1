/* Questions about topologies that a communicator has not, and grids that are none.
   MPI-5.0: Virtual Topologies, Topology Inquiry Functions. */
#include "check.h"

static int one, two, many[8];

/* Whoever asks a communicator about another topology than it has. */
static void check_kinds(MPI_Comm comm, int has) {
    MPI_Comm part;
    if (has != MPI_CART) {
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, &one));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_get(comm, 8, many, many, many));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_rank(comm, many, &one));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_coords(comm, 0, 8, many));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_shift(comm, 0, 1, &one, &two));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Cart_sub(comm, many, &part));
    }
    if (has != MPI_GRAPH) {
        GIVES(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(comm, &one, &two));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Graph_get(comm, 8, 8, many, many));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors(comm, 0, 8, many));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(comm, 0, &one));
    }
    if (has != MPI_DIST_GRAPH) {
        GIVES(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(comm, &one, &one, &two));
        GIVES(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(comm, 8, many, many, 8, many, many));
    }
}

static void check_grids(void) {
    MPI_Comm grid = MPI_COMM_WORLD;
    int dims[2] = {1, 1}, periods[2] = {0, 0};
    GIVES(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, -1, dims, periods, 0, &grid));
    GIVES(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, NULL, periods, 0, &grid));
    GIVES(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, NULL, 0, &grid));
    GIVES(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, NULL));
    dims[1] = -1;
    GIVES(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    dims[1] = size + 1;
    GIVES(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    GIVES(MPI_ERR_DIMS, MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &one));
    dims[0] = dims[1] = 1 << 16;
    GIVES(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    CHECK(grid == MPI_COMM_WORLD, "a call that fails sets nothing");
}

static void check_questions(MPI_Comm grid) {
    int outside = size;
    GIVES(MPI_ERR_ARG, MPI_Cart_rank(grid, &outside, &one));
    GIVES(MPI_ERR_ARG, MPI_Cart_rank(grid, NULL, &one));
    GIVES(MPI_ERR_RANK, MPI_Cart_coords(grid, size, 1, many));
    GIVES(MPI_ERR_RANK, MPI_Cart_coords(grid, MPI_PROC_NULL, 1, many));
    GIVES(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 0, many));
    GIVES(MPI_ERR_ARG, MPI_Cart_coords(grid, 0, 1, NULL));
    GIVES(MPI_ERR_ARG, MPI_Cart_get(grid, 0, many, many, many));
    GIVES(MPI_ERR_ARG, MPI_Cart_shift(grid, 1, 1, &one, &two));
    GIVES(MPI_ERR_ARG, MPI_Cart_shift(grid, -1, 1, &one, &two));
    GIVES(MPI_ERR_ARG, MPI_Cart_sub(grid, NULL, &grid));
}

/* An intercommunicator has no topology and gets none. */
static void check_inter(void) {
    MPI_Comm half, inter, made = MPI_COMM_WORLD;
    int odd = rank % 2, dims = 1, none = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, odd, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !odd, 5, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Topo_test(inter, &one));
    EQUAL(one, MPI_UNDEFINED);
    GIVES(MPI_ERR_COMM, MPI_Cart_create(inter, 1, &dims, &none, 0, &made));
    GIVES(MPI_ERR_COMM, MPI_Cart_map(inter, 1, &dims, &none, &one));
    GIVES(MPI_ERR_COMM, MPI_Graph_create(inter, 1, &dims, &none, 0, &made));
    GIVES(MPI_ERR_COMM, MPI_Dist_graph_create(inter, 1, &none, &dims, &none, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    GIVES(MPI_ERR_COMM, MPI_Dist_graph_create_adjacent(inter, 1, &none, MPI_UNWEIGHTED, 1, &none, MPI_UNWEIGHTED,
                                                       MPI_INFO_NULL, 0, &made));
    CHECK(made == MPI_COMM_WORLD, "a call that fails sets nothing");
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    int period = 0, degree = 1;
    begin(&argc, &argv);
    check_kinds(MPI_COMM_WORLD, MPI_UNDEFINED);
    check_grids();
    if (size > 1)
        check_inter();
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &comm));
    check_kinds(comm, MPI_CART);
    check_questions(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Graph_create(MPI_COMM_WORLD, 1, &degree, &period, 0, &comm));
    if (comm != MPI_COMM_NULL) {
        check_kinds(comm, MPI_GRAPH);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_kinds(comm, MPI_DIST_GRAPH);
    OK(MPI_Comm_free(&comm));
    GIVES(MPI_ERR_COMM, MPI_Topo_test(MPI_COMM_NULL, &one));
    return end();
}
