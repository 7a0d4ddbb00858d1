/* A receive that is cancelled in time takes no message; one that was matched completes as usual.
   MPI-5.0: Point-to-Point Communication, Cancel. */
#include "check.h"

int main(int argc, char **argv) {
    int value = -1, cancelled;
    MPI_Request receive, send;
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Irecv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &receive));
    OK(MPI_Cancel(&receive));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled, "nothing was sent: the receive is cancelled");
    CHECK(receive == MPI_REQUEST_NULL, "a completed request becomes null");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &send));
    OK(MPI_Recv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    EQUAL(value, left);
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(!cancelled, "a message was received");
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));

    /* A send may be cancelled or complete, but not both. */
    OK(MPI_Issend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &send));
    OK(MPI_Recv(&value, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Cancel(&send));
    OK(MPI_Wait(&send, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(!cancelled, "the message was received before");
    return end();
}
