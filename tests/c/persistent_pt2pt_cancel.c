/* A started receive can be cancelled; completing it makes it inactive, and it can be started again.
   MPI-5.0: Point-to-Point Communication, Cancel. */
#include "check.h"

/* By one of the completion functions. */
static void complete(MPI_Request *request, MPI_Status *status, int round) {
    int done = 0, index;
    if (round % 5 == 0)
        OK(MPI_Wait(request, status));
    while (round % 5 == 1 && !done)
        OK(MPI_Test(request, &done, status));
    if (round % 5 == 2)
        OK(MPI_Waitany(1, request, &index, status));
    if (round % 5 == 3)
        OK(MPI_Waitall(1, request, status));
    if (round % 5 == 4)
        OK(MPI_Waitsome(1, request, &done, &index, status));
}

int main(int argc, char **argv) {
    int value = -1, cancelled;
    MPI_Request receive, send;
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Recv_init(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &receive));
    for (int round = 0; round < 10; round++) {
        OK(MPI_Start(&receive));
        OK(MPI_Cancel(&receive));
        complete(&receive, &status, round);
        OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled, "nothing was sent: the receive is cancelled");
        CHECK(receive != MPI_REQUEST_NULL, "it is inactive, not freed");
        OK(MPI_Barrier(MPI_COMM_WORLD));

        int message = 10 * rank + round;
        OK(MPI_Isend(&message, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &send));
        OK(MPI_Start(&receive));
        OK(MPI_Wait(&receive, &status));
        check_status(&status, left, 1, MPI_INT, 1);
        EQUAL(value, 10 * left + round);
        OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(!cancelled, "the new operation was not cancelled");
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Request_free(&receive));
    return end();
}
