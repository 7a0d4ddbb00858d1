/* Closes its standard streams before it joins: what it prints then changes nothing, and nothing can be read.
   MPI-5.0: Process Initialization, Creation, and Management. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    char letter;
    int one = 1, sum = 0;
    MPI_Comm twin;
    int told = dup(STDOUT_FILENO);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    MPI_Init(&argc, &argv);
    joined();
    for (int i = 0; i < 10000; i++)
        printf("step %d residual 1e-3\n", i);
    fflush(stdout);
    CHECK(read(STDIN_FILENO, &letter, 1) <= 0, "there is nothing");
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    OK(MPI_Comm_free(&twin));
    if (rank == 0)
        CHECK(dprintf(told, "passed on %d\n", size) > 0, "it is told elsewhere");
    MPI_Finalize();
    return 0;
}
