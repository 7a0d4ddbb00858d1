/* Every rank waits for a message that nobody sends: for the time limit of the launcher, which reports it. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Request request;
    int value;
    begin(&argc, &argv);
    OK(MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 77, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return end();
}
