/* Many more ranks than processors: nearly all of them sleep, and are woken by whom they wait for.
 * MPI-5.0: Point-to-Point Communication; Collective Communication. */
#include "check.h"

#include <unistd.h>

/* A token goes around: each rank but one sleeps meanwhile. */
static void around(void) {
    int token = 0;
    if (rank == 0) {
        OK(MPI_Send(&token, 1, MPI_INT, 1 % size, 7, MPI_COMM_WORLD));
    }
    OK(MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(token, rank == 0 ? size - 1 : rank - 1);
    if (rank != 0) {
        token = rank;
        OK(MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD));
    }
}

/* All wait for one: for what it tells all, and each for what it tells him. */
static void behind(int last) {
    int told = -1;
    if (rank == last) {
        usleep(20000);
        told = last;
    }
    OK(MPI_Bcast(&told, 1, MPI_INT, last, MPI_COMM_WORLD));
    EQUAL(told, last);
    if (rank == last) {
        usleep(20000);
        for (int other = 0; other < size; other++) {
            if (other != last) {
                OK(MPI_Send(&other, 1, MPI_INT, other, 8, MPI_COMM_WORLD));
            }
        }
    } else {
        OK(MPI_Recv(&told, 1, MPI_INT, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(told, rank);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int sum = 0;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    around();
    behind(0);
    behind(size - 1);
    return end();
}
