/* Communicators that rank 0 frees and the others do not: MPI_Finalize does it for them, when rank 0 may be gone, or be
   the next program already. MPI-5.0: Process Initialization, Finalizing MPI. */
#include "check.h"

enum { COUNT = 1000 };

int main(int argc, char **argv) {
    MPI_Comm made;
    int number;
    begin(&argc, &argv);
    for (number = 0; number < COUNT; number++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
        if (rank == 0)
            OK(MPI_Comm_free(&made));
    }
    return end();
}
