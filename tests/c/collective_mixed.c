/* Operations of all lifetimes under way at once on one communicator.
   MPI-5.0: Collective Communication, Nonblocking and Persistent Collective Operations. */
#include "check.h"

int main(int argc, char **argv) {
    long mine[3], sums[3], all[16];
    MPI_Request persistent, nonblocking, second;
    begin(&argc, &argv);
    OK(MPI_Allreduce_init(&mine[0], &sums[0], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent));
    for (int round = 0; round < 300; round++) {
        long total = (long)size * (size - 1) / 2;
        for (int i = 0; i < 3; i++)
            mine[i] = rank + 10 * i + round;
        if (rank % 2)
            OK(MPI_Start(&persistent));
        OK(MPI_Iallreduce(&mine[1], &sums[1], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &nonblocking));
        if (rank % 2 == 0)
            OK(MPI_Start(&persistent));
        OK(MPI_Allreduce(&mine[2], &sums[2], 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Iallgather(&mine[2], 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD, &second));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Wait(&second, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&nonblocking, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++)
            EQUAL(sums[i], total + size * (10L * i + round));
        for (int r = 0; r < size; r++)
            EQUAL(all[r], r + 20 + round);
    }
    OK(MPI_Request_free(&persistent));
    return end();
}
