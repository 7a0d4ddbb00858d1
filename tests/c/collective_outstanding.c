/* 10,000 nonblocking collectives on one communicator, completed in random order.
   MPI-5.0: Collective Communication, Nonblocking Collective Operations. */
#include "check.h"

enum { OUTSTANDING = 10000 };

static MPI_Request requests[OUTSTANDING];
static long mine[OUTSTANDING], results[OUTSTANDING][8];

static void start(int i) {
    mine[i] = 100 * i + rank;
    switch (i % 4) {
    case 0:
        OK(MPI_Iallreduce(&mine[i], results[i], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
        break;
    case 1:
        results[i][0] = mine[i];
        OK(MPI_Ibcast(results[i], 1, MPI_LONG, i % size, MPI_COMM_WORLD, &requests[i]));
        break;
    case 2:
        OK(MPI_Iallgather(&mine[i], 1, MPI_LONG, results[i], 1, MPI_LONG, MPI_COMM_WORLD, &requests[i]));
        break;
    default:
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]));
    }
}

static void check(int i) {
    OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    if (i % 4 == 0)
        EQUAL(results[i][0], 100L * i * size + size * (size - 1) / 2);
    if (i % 4 == 1)
        EQUAL(results[i][0], 100 * i + i % size);
    for (int r = 0; i % 4 == 2 && r < size; r++)
        EQUAL(results[i][r], 100 * i + r);
}

int main(int argc, char **argv) {
    static int order[OUTSTANDING];
    unsigned seed;
    begin(&argc, &argv);
    seed = 12345u + 7919u * (unsigned)rank;
    for (int i = 0; i < OUTSTANDING; i++) {
        start(i);
        order[i] = i;
    }
    for (int i = OUTSTANDING - 1; i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int other = (int)((seed >> 8) % (unsigned)(i + 1)), swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (int i = 0; i < OUTSTANDING; i++)
        check(order[i]);
    return end();
}
