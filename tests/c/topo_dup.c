/* A duplicate has the topology, a communicator of a split has none.
   MPI-5.0: Virtual Topologies, Overview; Communicator Constructors. */
#include "check.h"

static int kind_of(MPI_Comm comm) {
    int kind;
    OK(MPI_Topo_test(comm, &kind));
    return kind;
}

static void check(MPI_Comm comm, int kind) {
    MPI_Comm duplicates[3], part;
    MPI_Request request;
    OK(MPI_Comm_dup(comm, &duplicates[0]));
    OK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &duplicates[1]));
    OK(MPI_Comm_idup(comm, &duplicates[2], &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&comm));
    for (int i = 0; i < 3; i++) {
        EQUAL(kind_of(duplicates[i]), kind);
        OK(MPI_Comm_split(duplicates[i], 0, rank, &part));
        EQUAL(kind_of(part), MPI_UNDEFINED);
        OK(MPI_Comm_free(&part));
        OK(MPI_Comm_free(&duplicates[i]));
    }
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    int period = 1, indx[64], edges[64], next, before;
    begin(&argc, &argv);
    next = (rank + 1) % size, before = (rank + size - 1) % size;
    EQUAL(kind_of(MPI_COMM_WORLD), MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &comm));
    check(comm, MPI_CART);
    for (int i = 0; i < size; i++)
        indx[i] = i + 1, edges[i] = (i + 1) % size;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, indx, edges, 0, &comm));
    check(comm, MPI_GRAPH);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &comm));
    check(comm, MPI_DIST_GRAPH);
    return end();
}
