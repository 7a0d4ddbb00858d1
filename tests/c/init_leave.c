/* The last rank leaves without MPI_Finalize, by itself or by a signal, while the others wait for a message.
   MPI-5.0: Process Initialization, Finalizing MPI. */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int value;
    begin(&argc, &argv);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1) {
        /* So that the others are in their call when it is noticed. */
        usleep(100000);
        if (strcmp(argv[1], "kill") == 0)
            raise(SIGKILL);
        _exit(atoi(argv[1]));
    }
    OK(MPI_Recv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return end();
}
