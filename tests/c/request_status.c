/* Request_get_status says that an operation is complete and leaves the request as it is; Request_free lets
   an operation complete by itself. MPI-5.0: Point-to-Point Communication, Communication Completion. */
#include "check.h"

int main(int argc, char **argv) {
    int value = -1, flag = 1;
    MPI_Request receive, send;
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK(flag, "a null request is complete");
    check_empty(&status);
    OK(MPI_Irecv(&value, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &receive));
    OK(MPI_Request_get_status(receive, &flag, &status));
    CHECK(!flag, "nothing was sent");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 6, MPI_COMM_WORLD, &send));
    OK(MPI_Request_free(&send));
    CHECK(send == MPI_REQUEST_NULL, "a freed request becomes null");
    do
        OK(MPI_Request_get_status(receive, &flag, &status));
    while (!flag);
    for (int i = 0; i < 3; i++) {
        check_status(&status, left, 6, MPI_INT, 1);
        EQUAL(value, left);
        OK(MPI_Request_get_status(receive, &flag, &status));
        CHECK(flag, "it stays complete");
    }
    OK(MPI_Wait(&receive, &status));
    check_status(&status, left, 6, MPI_INT, 1);
    OK(MPI_Wait(&receive, &status));
    check_empty(&status);
    return end();
}
