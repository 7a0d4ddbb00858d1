/* Nobody does what the others wait for: reports say so in ranks of the communicators that the program uses, of which
   one has a name. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Comm reversed, unnamed;
    begin(&argc, &argv);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &unnamed));
    OK(MPI_Comm_set_name(reversed, "reversed"));
    if (rank == 0)
        OK(MPI_Ssend(&rank, 1, MPI_INT, 0, 5, reversed));
    if (rank == 1)
        OK(MPI_Barrier(reversed));
    OK(MPI_Recv(NULL, 0, MPI_INT, size - 1, 9, unnamed, MPI_STATUS_IGNORE));
    return end();
}
