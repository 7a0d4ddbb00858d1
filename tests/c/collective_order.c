/* Persistent collectives are initialised in one order and may be started in another on each rank.
   MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "check.h"

enum { OPERATIONS = 12, COUNT = 500 };

static int sent[OPERATIONS][COUNT], received[OPERATIONS][8 * COUNT];

static MPI_Request initialise(int i) {
    MPI_Request request;
    if (i % 4 == 0)
        OK(MPI_Allreduce_init(sent[i], received[i], COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
            &request));
    else if (i % 4 == 1)
        OK(MPI_Bcast_init(received[i], COUNT, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    else if (i % 4 == 2)
        OK(MPI_Alltoall_init(sent[i], COUNT / 8, MPI_INT, received[i], COUNT / 8, MPI_INT, MPI_COMM_WORLD,
            MPI_INFO_NULL, &request));
    else
        OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    return request;
}

static void fill(int i, int round) {
    for (int k = 0; k < COUNT; k++) {
        sent[i][k] = 1000 * rank + 10 * i + round;
        received[i][k] = rank == i % size ? 1000 * rank + 10 * i + round : -1;
    }
}

static void check(int i, int round) {
    int last = i % 4 == 2 ? size - 1 : i % size;
    if (i % 4 == 0)
        EQUAL(received[i][COUNT - 1], size * (10 * i + round) + 1000 * size * (size - 1) / 2);
    if (i % 4 == 1)
        EQUAL(received[i][COUNT - 1], 1000 * last + 10 * i + round);
    if (i % 4 == 2)
        EQUAL(received[i][last * (COUNT / 8)], 1000 * last + 10 * i + round);
}

int main(int argc, char **argv) {
    MPI_Request requests[OPERATIONS], ordered[OPERATIONS];
    begin(&argc, &argv);
    for (int i = 0; i < OPERATIONS; i++)
        requests[i] = initialise(i);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < OPERATIONS; i++) {
            fill(i, round);
            ordered[i] = requests[(rank % 2 ? OPERATIONS - 1 - i : i + round) % OPERATIONS];
        }
        if (round % 3 == 0)
            OK(MPI_Startall(OPERATIONS, ordered));
        for (int i = 0; round % 3 && i < OPERATIONS; i++)
            OK(MPI_Start(&ordered[i]));
        OK(MPI_Waitall(OPERATIONS, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < OPERATIONS; i++)
            check(i, round);
    }
    for (int i = 0; i < OPERATIONS; i++)
        OK(MPI_Request_free(&requests[i]));
    return end();
}
