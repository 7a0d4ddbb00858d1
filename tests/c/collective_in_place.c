/* MPI_IN_PLACE in the vector forms, in every lifetime; where an operation has no such option, or it is not this
   buffer's or this rank's, it is MPI_ERR_BUFFER.
   MPI-5.0: Collective Communication, Specifics for Intra-Communicator Collective Operations. */
#include "lifetimes.h"

enum { MOST = 8, BLOCK = 900, ALL = MOST * BLOCK };

static int all[ALL], counts[MOST], places[MOST], bytes[MOST];
static MPI_Datatype types[MOST];

static void fill_own(int round) {
    memset(all, 255, sizeof all);
    for (int i = 0; i < counts[rank]; i++)
        all[places[rank] + i] = 1000 * rank + i + round;
}

static void all_gathered(int round) {
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(all[places[r] + i], 1000 * r + i + round);
        EQUAL(all[places[r] + counts[r]], -1);
    }
}

/* What two ranks exchange has the same length in both directions. */
static void lay_out_pairs(void) {
    for (int r = 0; r < size; r++) {
        counts[r] = (r + rank) % 3 ? 1 + (r + rank) * 40 : 0;
        bytes[r] = places[r] * (int)sizeof(int);
        types[r] = MPI_INT;
    }
}

static void fill_pairs(int round) {
    memset(all, 255, sizeof all);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            all[places[r] + i] = 100000 * rank + 10000 * r + i + round;
}

static void all_exchanged(int round) {
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(all[places[r] + i], 100000 * r + 10000 * rank + i + round);
        EQUAL(all[places[r] + counts[r]], -1);
    }
}

#define REFUSED(name, iname, ...)                                                                   \
    do {                                                                                            \
        MPI_Request request = MPI_REQUEST_NULL;                                                     \
        GIVES(MPI_ERR_BUFFER, MPI_##name(__VA_ARGS__));                                             \
        GIVES(MPI_ERR_BUFFER, MPI_##iname(__VA_ARGS__, &request));                                  \
        GIVES(MPI_ERR_BUFFER, MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request));             \
        CHECK(request == MPI_REQUEST_NULL, "a call that fails makes no request");                   \
    } while (0)

static void refused(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    int other = (rank + 1) % size, ones[MOST];
    for (int r = 0; r < MOST; r++)
        ones[r] = 1;
    REFUSED(Bcast, Ibcast, MPI_IN_PLACE, 1, MPI_INT, 0, world);
    REFUSED(Allgather, Iallgather, all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world);
    REFUSED(Allreduce, Iallreduce, all, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world);
    REFUSED(Alltoall, Ialltoall, all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, world);
    REFUSED(Gather, Igather, all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, rank, world);
    REFUSED(Reduce, Ireduce, all, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, rank, world);
    REFUSED(Reduce_scatter, Ireduce_scatter, all, MPI_IN_PLACE, ones, MPI_INT, MPI_SUM, world);
    REFUSED(Reduce_scatter_block, Ireduce_scatter_block, all, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world);
    REFUSED(Scan, Iscan, all, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world);
    REFUSED(Scatter, Iscatter, MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, rank, world);
    /* The first rank gets nothing. */
    if (rank > 0)
        REFUSED(Exscan, Iexscan, all, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, world);
    if (size == 1)
        return;
    REFUSED(Gather, Igather, MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, other, world);
    REFUSED(Gatherv, Igatherv, MPI_IN_PLACE, 1, MPI_INT, all, counts, places, MPI_INT, other, world);
    REFUSED(Reduce, Ireduce, MPI_IN_PLACE, all, 1, MPI_INT, MPI_SUM, other, world);
    REFUSED(Scatter, Iscatter, all, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, other, world);
    REFUSED(Scatterv, Iscatterv, all, counts, places, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, other, world);
}

/* Neighbourhoods have no such option. */
static void refused_among_neighbors(void) {
    MPI_Comm ring;
    MPI_Aint addresses[2] = {0, 0};
    int ones[2] = {1, 1};
    MPI_Datatype ints[2] = {MPI_INT, MPI_INT};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){1}, 0, &ring));
    for (int k = 0; k < 2; k++) {
        void *in = k ? all : MPI_IN_PLACE, *out = k ? MPI_IN_PLACE : all;
        REFUSED(Neighbor_allgather, Ineighbor_allgather, in, 1, MPI_INT, out, 1, MPI_INT, ring);
        REFUSED(Neighbor_allgatherv, Ineighbor_allgatherv, in, 1, MPI_INT, out, ones, ones, MPI_INT, ring);
        REFUSED(Neighbor_alltoall, Ineighbor_alltoall, in, 1, MPI_INT, out, 1, MPI_INT, ring);
        REFUSED(Neighbor_alltoallv, Ineighbor_alltoallv, in, ones, ones, MPI_INT, out, ones, ones, MPI_INT, ring);
        REFUSED(Neighbor_alltoallw, Ineighbor_alltoallw, in, ones, addresses, ints, out, ones, addresses, ints, ring);
    }
    OK(MPI_Comm_free(&ring));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int r = 0; r < size; r++)
        counts[r] = r == 1 ? 0 : 100 * r + 7, places[r] = (size - 1 - r) * BLOCK;
    IN_THREE_LIFETIMES(fill_own, all_gathered, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, MPI_IN_PLACE, 0,
                       MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    lay_out_pairs();
    IN_THREE_LIFETIMES(fill_pairs, all_exchanged, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, MPI_IN_PLACE, NULL,
                       NULL, MPI_DATATYPE_NULL, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_pairs, all_exchanged, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, MPI_IN_PLACE, NULL,
                       NULL, NULL, all, counts, bytes, types, MPI_COMM_WORLD);
    refused();
    refused_among_neighbors();
    return end();
}
