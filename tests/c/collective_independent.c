/* Operations on communicators that overlap go on independently: pairs of ranks around a ring, each rank in two of
   them, wait in an order with which blocking calls would deadlock; an operation is complete while one that was
   posted before is not, and stays so however long the others are away.
   MPI-5.0: Collective Communication, Communicator Argument, Nonblocking and Persistent Collective Operations. */
#include "sorts.h"

enum { LONG = 40000 };

/* Pair `r` consists of ranks `r` and `r + 1`. */
static MPI_Comm pair_with_right, pair_with_left, ring;

static void make_pairs(void) {
    MPI_Group world, group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int r = 0; r < size; r++) {
        int members[2] = {r, (r + 1) % size};
        MPI_Comm comm, pair = MPI_COMM_NULL;
        OK(MPI_Group_incl(world, size == 1 ? 1 : 2, members, &group));
        OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
        if (comm != MPI_COMM_NULL) {
            pair = ring_of(comm);
            OK(MPI_Comm_free(&comm));
        }
        if (rank == r)
            pair_with_right = pair;
        if (rank == (r + 1) % size && size > 1)
            pair_with_left = pair;
        OK(MPI_Group_free(&group));
    }
    if (size == 1)
        OK(MPI_Comm_dup(pair_with_right, &pair_with_left));
    OK(MPI_Group_free(&world));
}

/* Initialisations wait for the others: they go round the ring, from the pair of the last rank and the first. */
static void prepare(const Collective *all, MPI_Request *requests) {
    int first = rank == size - 1 ? 0 : 1;
    call(&all[first], PERSISTENT, &requests[first]);
    call(&all[1 - first], PERSISTENT, &requests[1 - first]);
}

/* Everybody begins with his right neighbour and waits for this operation first, or the other way round. */
static void around_the_ring(int sort, int count, int lifetime, int first) {
    Collective all[2] = {collective(pair_with_right, sort, count, 0), collective(pair_with_left, sort, count, 0)};
    MPI_Request requests[2];
    fill(&all[0], 1);
    fill(&all[1], 1);
    if (lifetime == PERSISTENT)
        prepare(all, requests);
    for (int k = 0; k < 2; k++)
        if (lifetime == PERSISTENT)
            OK(MPI_Start(&requests[k ^ first]));
        else
            call(&all[k ^ first], NONBLOCKING, &requests[k ^ first]);
    for (int k = 0; k < 2; k++)
        complete_one(&requests[k ^ first]);
    for (int k = 0; k < 2; k++) {
        verify(&all[k], 1);
        discard(&all[k]);
    }
}

/* The last rank begins the one on the whole world when the other ranks have completed many on their own. */
static void one_is_late(int sort, int count) {
    MPI_Comm group, others;
    Collective whole = collective(ring, ALLREDUCE, count, 0), part;
    MPI_Request waiting, request;
    int done, is_late = rank == size - 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_late, rank, &group));
    others = ring_of(group);
    OK(MPI_Comm_free(&group));
    fill(&whole, 3);
    if (!is_late) {
        call(&whole, NONBLOCKING, &waiting);
        for (int round = 0; round < 20; round++) {
            part = collective(others, sort, count, 0);
            fill(&part, round);
            begin_one(&part, round % LIFETIMES, &request);
            if (round % LIFETIMES != BLOCKING)
                complete_one(&request);
            verify(&part, round);
            discard(&part);
        }
        OK(MPI_Test(&waiting, &done, MPI_STATUS_IGNORE));
        CHECK(!done, "the last rank has not begun it");
        OK(MPI_Send(&rank, 1, MPI_INT, size - 1, 6, MPI_COMM_WORLD));
    } else {
        for (int r = 0; r < size - 1; r++)
            OK(MPI_Recv(&done, 1, MPI_INT, r, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        call(&whole, NONBLOCKING, &waiting);
    }
    OK(MPI_Wait(&waiting, MPI_STATUS_IGNORE));
    verify(&whole, 3);
    discard(&whole);
    OK(MPI_Comm_free(&others));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_pairs();
    ring = ring_of(MPI_COMM_WORLD);
    for (int sort = 0; sort < SORTS; sort++)
        for (int k = 0; k < 4; k++) {
            around_the_ring(sort, k < 2 ? 3 : LONG, NONBLOCKING, k % 2);
            around_the_ring(sort, k < 2 ? 3 : LONG, PERSISTENT, k % 2);
        }
    for (int sort = 0; sort < SORTS; sort++)
        one_is_late(sort, sort % 2 ? 2 : LONG);
    OK(MPI_Comm_free(&pair_with_right));
    OK(MPI_Comm_free(&pair_with_left));
    OK(MPI_Comm_free(&ring));
    return end();
}
