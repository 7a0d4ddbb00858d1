/* Forgets requests of several kinds, some of them several times. What `MPI_Finalize` says of it is checked outside.
   MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI. */
#include "check.h"

static int nothing(void *state, MPI_Status *status) {
    (void)state;
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int no_free(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int no_cancel(void *state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    static int data[100];
    MPI_Request request, kept;
    MPI_Comm comm;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_name(comm, "the pipeline"));
    for (int i = 0; i < 3; i++)
        OK(MPI_Isend(data, 2, MPI_INT, right, 7, comm, &request));
    for (int i = 0; i < 3; i++)
        OK(MPI_Recv(data, 2, MPI_INT, left, 7, comm, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(data, 10, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request));
    OK(MPI_Send_init(data, 100, MPI_INT, right, 8, MPI_COMM_WORLD, &request));
    OK(MPI_Grequest_start(nothing, no_free, no_cancel, NULL, &request));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    for (int flag = 0; !flag;)
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    /* These are not forgotten. */
    OK(MPI_Irecv(data, 10, MPI_INT, left, 10, MPI_COMM_WORLD, &kept));
    OK(MPI_Send(data, 10, MPI_INT, right, 10, MPI_COMM_WORLD));
    OK(MPI_Wait(&kept, MPI_STATUS_IGNORE));
    OK(MPI_Isend(data, 1, MPI_INT, right, 11, MPI_COMM_WORLD, &kept));
    OK(MPI_Request_free(&kept));
    OK(MPI_Recv(data, 1, MPI_INT, left, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return end();
}
