/* What may not be done with requests gives MPI_ERR_REQUEST and leaves them as they were.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
   Nonblocking and Persistent Collective Operations. */
#include "check.h"

static void misuse_of_collective(MPI_Request *request, int is_persistent) {
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(request));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK((*request != MPI_REQUEST_NULL) == is_persistent, "only persistent requests stay");
}

int main(int argc, char **argv) {
    int value = -1, sum;
    MPI_Request request, freed;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    request = MPI_REQUEST_NULL;
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));

    OK(MPI_Irecv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    freed = request;
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(value, left);
    GIVES(MPI_ERR_REQUEST, MPI_Wait(&freed, MPI_STATUS_IGNORE));

    OK(MPI_Recv_init(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
    freed = request;
    OK(MPI_Request_free(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&freed));

    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    misuse_of_collective(&request, 0);
    OK(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&request));
        misuse_of_collective(&request, 1);
        EQUAL(sum, size * (size - 1) / 2);
    }
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
    OK(MPI_Request_free(&request));
    return end();
}
