/* Rank 1 does not take part in making a communicator that it is a member of: the others wait. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Group world;
    MPI_Comm comm;
    begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    if (rank == 1)
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, world, 3, &comm));
    return end();
}
