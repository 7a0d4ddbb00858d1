/* One rank aborts with a code while the others wait. MPI-5.0: Process Initialization, Abort. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
    MPI_Recv(&size, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}
