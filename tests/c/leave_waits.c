/* Rank 0 never calls MPI_Finalize, and the others wait for it there: for the time limit of the launcher, which reports
   it. */
#include "check.h"
#include <unistd.h>

int main(int argc, char **argv) {
    begin(&argc, &argv);
    while (rank == 0)
        pause();
    MPI_Finalize();
    return 0;
}
