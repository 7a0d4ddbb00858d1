/* Of two processes each may send another length than it receives in the regular forms, for what it sends must be what
   the other receives, and nothing else; among more all lengths are equal. In every lifetime and width.
   MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies. */
#include "lifetimes.h"

enum { MOST = 4, LONG = 50000 };

static MPI_Comm comm;
static int degree, ends[MOST], is_grid, send_count, recv_count;
static int sent[MOST * LONG], received[MOST * LONG + 1];

static int value(int from, int edge, int i, int round) {
    return 10000000 * round + 1000000 * from + 100000 * edge + i;
}

static void fill(int round) {
    memset(received, 255, sizeof received);
    for (int e = 0; e < degree; e++)
        for (int i = 0; i < send_count; i++)
            sent[e * send_count + i] = value(rank, e, i, round);
}

static void check(int edge, int e, int round) {
    for (int i = 0; i < recv_count; i++)
        EQUAL(received[e * recv_count + i], ends[e] == MPI_PROC_NULL ? -1 : value(ends[e], edge, i, round));
    EQUAL(received[degree * recv_count], -1);
}

/* What goes out against a dimension of a grid arrives along it. */
static void check_each(int round) {
    for (int e = 0; e < degree; e++)
        check(is_grid ? e ^ 1 : e, e, round);
}

static void check_first(int round) {
    for (int e = 0; e < degree; e++)
        check(0, e, round);
}

static void both_forms(void) {
    const int counts[][2] = {{0, 1}, {3, 40}, {LONG, 1}, {7, LONG}, {LONG, LONG - 1}, {5, 5}};
    for (int c = 0; c < 6; c++) {
        send_count = counts[c][rank], recv_count = counts[c][!rank];
        IN_EVERY_LIFETIME(fill, check_first, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, sent, send_count,
            MPI_INT, received, recv_count, MPI_INT, comm);
        IN_EVERY_LIFETIME(fill, check_each, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, sent, send_count, MPI_INT,
            received, recv_count, MPI_INT, comm);
    }
    OK(MPI_Comm_free(&comm));
}

static void on_grid(int ndims, const int *dims, const int *periods) {
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &comm));
    degree = 2 * ndims, is_grid = 1;
    for (int d = 0; d < ndims; d++)
        OK(MPI_Cart_shift(comm, d, 1, &ends[2 * d], &ends[2 * d + 1]));
    both_forms();
}

/* Two edges lead each way. */
static void on_graphs(void) {
    degree = 2, is_grid = 0, ends[0] = ends[1] = !rank;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 2, (int[]){2, 4}, (int[]){1, 1, 0, 0}, 0, &comm));
    both_forms();
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ends, MPI_UNWEIGHTED, 2, ends, MPI_UNWEIGHTED, MPI_INFO_NULL,
        0, &comm));
    both_forms();
}

/* Neither gets what it does not wait for, nor less: each is told that they disagree. */
static void disagree(void) {
    const int counts[][2][2] = {{{1, 2}, {2, 2}}, {{2, 2}, {2, 1}}, {{4, 8}, {6, 6}}};
    for (int c = 0; c < 3; c++) {
        OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &comm));
        OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
        const int *own = counts[c][rank];
        for (int again = 0; again < 2; again++) {
            GIVES(MPI_ERR_TRUNCATE, MPI_Neighbor_allgather(sent, own[0], MPI_INT, received, own[1], MPI_INT, comm));
            GIVES(MPI_ERR_TRUNCATE, MPI_Neighbor_alltoall(sent, own[0], MPI_INT, received, own[1], MPI_INT, comm));
        }
        OK(MPI_Barrier(comm));
        OK(MPI_Comm_free(&comm));
    }
}

static void among_more(void) {
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_COUNT, MPI_Neighbor_allgather(sent, 1, MPI_INT, received, 2, MPI_INT, comm));
    GIVES(MPI_ERR_COUNT, MPI_Neighbor_alltoall(sent, 2, MPI_INT, received, 1, MPI_INT, comm));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (size == 2) {
        on_grid(1, (int[]){2}, (int[]){1});
        on_grid(1, (int[]){2}, (int[]){0});
        on_grid(2, (int[]){1, 2}, (int[]){0, 0});
        on_graphs();
        disagree();
    } else
        among_more();
    return end();
}
