/* A rank whose child has been in MPI and has left it crashes: the job must notice. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1) {
        return MPI_Finalize();
    }
    if (rank == size - 1) {
        char line[4096];
        snprintf(line, sizeof line, "%s child", argv[0]);
        EQUAL(system(line), 0);
        abort();
    }
    int never;
    MPI_Recv(&never, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}
