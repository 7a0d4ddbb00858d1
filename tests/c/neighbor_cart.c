/* Neighbourhoods of grids, also where both neighbours are one process or the process itself: what goes out against a
   dimension arrives along it. In every lifetime and width.
   MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies. */
#include "lifetimes.h"

enum { MOST_DIMS = 3, MOST = 2 * MOST_DIMS, EACH = 3, LONG = 30000, GAP = 5 };

static MPI_Comm grid;
static int degree, neighbors[MOST], count;
static int sent[MOST * (LONG + GAP)], received[MOST * (LONG + GAP)];
static int counts[MOST], places[MOST];
static MPI_Count large_counts[MOST];
static MPI_Aint large_places[MOST], byte_places[MOST], wild_places[MOST];
static MPI_Datatype types[MOST];

/* What `from` sends along its edge `edge`; everything along all edges in an allgather. */
static int value(int from, int edge, int i, int round) {
    return 1000000 * round + 10000 * from + 1000 * edge + i;
}

static int length(int edge) {
    return count + (edge < 0 ? 0 : edge / 2);
}

static void fill_blocks(int round) {
    memset(received, 255, sizeof received);
    for (int e = 0; e < degree; e++)
        for (int i = 0; i < counts[e]; i++)
            sent[places[e] + i] = value(rank, e, i, round);
}

static void fill_one(int round) {
    memset(received, 255, sizeof received);
    for (int i = 0; i < count; i++)
        sent[i] = value(rank, 0, i, round);
}

static void check_block(int e, int n, int edge, int round) {
    for (int i = 0; i < n; i++)
        EQUAL(received[places[e] + i], neighbors[e] == MPI_PROC_NULL ? -1 : value(neighbors[e], edge, i, round));
    EQUAL(received[places[e] + n], -1);
}

static void check_blocks(int round) {
    for (int e = 0; e < degree; e++)
        check_block(e, counts[e], e ^ 1, round);
}

static void check_one(int round) {
    for (int e = 0; e < degree; e++)
        check_block(e, count, 0, round);
}

static void check_row(int round) {
    for (int e = 0; e < degree; e++)
        for (int i = 0; i < count; i++) {
            int expected = neighbors[e] == MPI_PROC_NULL ? -1 : value(neighbors[e], 0, i, round);
            EQUAL(received[e * count + i], expected);
        }
}

static void check_exchanged_row(int round) {
    for (int e = 0; e < degree; e++)
        for (int i = 0; i < count; i++) {
            int expected = neighbors[e] == MPI_PROC_NULL ? -1 : value(neighbors[e], e ^ 1, i, round);
            EQUAL(received[e * count + i], expected);
        }
}

static void fill_row(int round) {
    memset(received, 255, sizeof received);
    for (int e = 0; e < degree; e++)
        for (int i = 0; i < count; i++)
            sent[e * count + i] = value(rank, e, i, round);
}

static void lay_out(int uneven) {
    for (int e = 0; e < degree; e++) {
        large_counts[e] = counts[e] = uneven ? length(e) : count;
        large_places[e] = places[e] = (degree - 1 - e) * (LONG + GAP);
        byte_places[e] = (MPI_Aint)sizeof(int) * places[e];
        types[e] = MPI_INT;
        /* Nothing is ever read or written there. */
        wild_places[e] = neighbors[e] == MPI_PROC_NULL ? (MPI_Aint)1 << 46 : byte_places[e];
    }
}

/* Displacements that are addresses, counted from MPI_BOTTOM. */
static void from_bottom(void) {
    static MPI_Aint send_places[MOST], recv_places[MOST];
    for (int e = 0; e < degree; e++) {
        OK(MPI_Get_address(sent + places[e], &send_places[e]));
        OK(MPI_Get_address(received + places[e], &recv_places[e]));
    }
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
        MPI_Neighbor_alltoallw_init, MPI_BOTTOM, counts, send_places, types, MPI_BOTTOM, counts, recv_places, types,
        grid);
}

static void all_forms(void) {
    lay_out(0);
    IN_EVERY_LIFETIME(fill_one, check_row, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, sent, count, MPI_INT, received, count,
        MPI_INT, grid);
    IN_EVERY_LIFETIME(fill_row, check_exchanged_row, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, sent, count, MPI_INT, received, count,
        MPI_INT, grid);
    IN_THREE_LIFETIMES(fill_one, check_one, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
        MPI_Neighbor_allgatherv_init, sent, count, MPI_INT, received, counts, places, MPI_INT, grid);
    IN_THREE_LIFETIMES(fill_one, check_one, MPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c,
        MPI_Neighbor_allgatherv_init_c, sent, count, MPI_INT, received, large_counts, large_places, MPI_INT, grid);
    lay_out(1);
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
        MPI_Neighbor_alltoallv_init, sent, counts, places, MPI_INT, received, counts, places, MPI_INT, grid);
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c,
        MPI_Neighbor_alltoallv_init_c, sent, large_counts, large_places, MPI_INT, received, large_counts, large_places,
        MPI_INT, grid);
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
        MPI_Neighbor_alltoallw_init, sent, counts, byte_places, types, received, counts, byte_places, types, grid);
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c,
        MPI_Neighbor_alltoallw_init_c, sent, large_counts, byte_places, types, received, large_counts, byte_places,
        types, grid);
    from_bottom();
}

static void with_wild_places(void) {
    IN_THREE_LIFETIMES(fill_blocks, check_blocks, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
        MPI_Neighbor_alltoallw_init, sent, counts, wild_places, types, received, counts, wild_places, types, grid);
}

static void on_grid(int ndims, const int *dims, const int *periods) {
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &grid));
    degree = 2 * ndims;
    for (int d = 0; d < ndims; d++)
        OK(MPI_Cart_shift(grid, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]));
    const int lengths[] = {0, 1, EACH, LONG - MOST_DIMS};
    for (int l = 0; l < 4; l++) {
        count = lengths[l];
        all_forms();
        with_wild_places();
    }
    OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    on_grid(1, (int[]){size}, (int[]){1});
    on_grid(1, (int[]){size}, (int[]){0});
    on_grid(3, (int[]){1, size, 1}, (int[]){1, 1, 0});
    int dims[2] = {0, 0};
    OK(MPI_Dims_create(size, 2, dims));
    on_grid(2, dims, (int[]){1, 0});
    on_grid(2, dims, (int[]){1, 1});
    return end();
}
