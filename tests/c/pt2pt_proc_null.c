/* Communication with MPI_PROC_NULL succeeds at once and moves nothing.
   MPI-5.0: Point-to-Point Communication, Null MPI Processes. */
#include "check.h"

static void check_null(const MPI_Status *status) {
    check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
}

int main(int argc, char **argv) {
    int value = 5, found = 0;
    MPI_Status status;
    MPI_Request requests[3];
    MPI_Message message;
    begin(&argc, &argv);
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Ssend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status));
    check_null(&status);
    OK(MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_null(&status);
    OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &found, &status));
    CHECK(found, "there is always a message from nobody");
    check_null(&status);
    OK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC, "the message of nobody");
    OK(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL, "a received message becomes null");
    check_null(&status);
    OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[1], &status));
    check_null(&status);
    for (int i = 0; i < 3; i++) {
        OK(MPI_Start(&requests[2]));
        OK(MPI_Wait(&requests[2], &status));
        check_null(&status);
    }
    OK(MPI_Request_free(&requests[2]));
    EQUAL(value, 5);
    return end();
}
