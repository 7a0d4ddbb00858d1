/* Any number of persistent collectives may be alive, each at its own point, and what they used is used again.
   MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "resident.h"

enum { KINDS = 4, EACH = 97, CYCLES = 7, SETTLED = 4 };

static int *values;
static MPI_Request *requests;

static void prepare(int i) {
    int *value = &values[2 * i];
    switch (i % KINDS) {
    case 0: OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i])); break;
    case 1: OK(MPI_Bcast_init(value, 1, MPI_INT, i % size, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i])); break;
    case 2:
        OK(MPI_Allreduce_init(value, value + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]));
        break;
    default:
        OK(MPI_Scan_init(value, value + 1, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]));
    }
}

static void run(int i, int round) {
    int *value = &values[2 * i];
    value[0] = i % KINDS != 1 ? rank + round : rank == i % size ? i + round : -1;
    value[1] = -1;
    OK(MPI_Start(&requests[i]));
    OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    switch (i % KINDS) {
    case 0: break;
    case 1: EQUAL(value[0], i + round); break;
    case 2: EQUAL(value[1], size * (size - 1) / 2 + size * round); break;
    default: EQUAL(value[1], rank * (rank + 1) / 2 + (rank + 1) * round);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int count = argc > 1 ? atoi(argv[1]) : size > 4 ? 2000 : 20000;
    values = calloc(2 * count, sizeof *values);
    requests = malloc(count * sizeof *requests);
    long before = 0, grown = 0;
    for (int cycle = 0; cycle < CYCLES; cycle++) {
        for (int i = 0; i < count; i++)
            prepare(i);
        if (cycle == SETTLED)
            before = resident();
        grown = (resident() - before) * sysconf(_SC_PAGESIZE);
        for (int round = 0; round < 20; round++)
            for (int i = round; i < count; i += EACH)
                run(i, round);
        for (int i = 0; i < count; i++) /* in an order of its own on each rank */
            OK(MPI_Request_free(&requests[rank % 2 ? count - 1 - i : i]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* In whatever order ranks have freed them: what all have freed is there for the first that is made again. */
    CHECK(grown < (1 << 20) + 100L * count, "%ld bytes more for %d operations than before", grown, count);
    free(values);
    free(requests);
    return end();
}
