/* Completion makes a persistent request inactive: waiting for it then returns at once with an empty status,
   and starting it while active is an error. MPI-5.0: Point-to-Point Communication, Communication Completion
   and Persistent Communication Requests. */
#include "check.h"

int main(int argc, char **argv) {
    int value = -1, flag = 0, index;
    MPI_Request requests[2];
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Recv_init(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Wait(&requests[0], &status));
        check_empty(&status);
        OK(MPI_Test(&requests[0], &flag, &status));
        CHECK(flag, "an inactive request counts as complete");
        check_empty(&status);
        OK(MPI_Waitany(2, requests, &index, &status));
        EQUAL(index, MPI_UNDEFINED);
        check_empty(&status);
        OK(MPI_Start(&requests[0]));
        GIVES(MPI_ERR_REQUEST, MPI_Start(&requests[0]));
        OK(MPI_Start(&requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        EQUAL(value, left);
        value = -1;
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    return end();
}
