/* Persistent collectives started 1000 times, each time with what their buffers hold then, by ranks of
   different speed. MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "check.h"

int main(int argc, char **argv) {
    static double mine[40], sums[40], vector[8];
    MPI_Request reduction, broadcast, barrier, gather;
    double all[64] = {0}, own = 0;
    begin(&argc, &argv);
    OK(MPI_Allreduce_init(mine, sums, 40, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &reduction));
    OK(MPI_Bcast_init(vector, 8, MPI_DOUBLE, size / 2, MPI_COMM_WORLD, MPI_INFO_NULL, &broadcast));
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier));
    OK(MPI_Allgather_init(&own, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, MPI_COMM_WORLD, MPI_INFO_NULL, &gather));
    for (int round = 0; round < 1000; round++) {
        mine[0] = mine[39] = round + rank;
        vector[7] = rank == size / 2 ? round : -1;
        own = 10 * round + rank;
        OK(MPI_Start(&reduction));
        OK(MPI_Wait(&reduction, MPI_STATUS_IGNORE));
        OK(MPI_Start(&broadcast));
        OK(MPI_Wait(&broadcast, MPI_STATUS_IGNORE));
        if (round % 10 == 0) {
            OK(MPI_Start(&barrier));
            OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
        }
        OK(MPI_Start(&gather));
        OK(MPI_Wait(&gather, MPI_STATUS_IGNORE));
        EQUAL(sums[0], size * round + size * (size - 1) / 2);
        EQUAL(sums[39], size * round + size * (size - 1) / 2);
        EQUAL(vector[7], round);
        for (int r = 0; r < size; r++)
            EQUAL(all[r], 10 * round + r);
    }
    OK(MPI_Request_free(&reduction));
    OK(MPI_Request_free(&broadcast));
    OK(MPI_Request_free(&barrier));
    OK(MPI_Request_free(&gather));
    return end();
}
