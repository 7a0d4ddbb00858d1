/* A communicator may be freed while operations on it are pending: they complete as usual.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Destructors. */
#include "check.h"

static int heard;

static void hear(MPI_Comm *comm, int *code, ...) {
    CHECK(*comm == MPI_COMM_NULL, "the communicator has no handle any more");
    EQUAL(class_of(*code), MPI_ERR_TRUNCATE);
    heard++;
}

/* Their errors go to the error handler that the communicator had. */
static void check_errors(int left, int right) {
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Request receive, send;
    int mine[2] = {rank, rank}, got;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(hear, &errhandler));
    OK(MPI_Comm_set_errhandler(comm, errhandler));
    OK(MPI_Errhandler_free(&errhandler));
    OK(MPI_Irecv(&got, 1, MPI_INT, left, 1, comm, &receive));
    OK(MPI_Barrier(comm));
    OK(MPI_Isend(mine, 2, MPI_INT, right, 1, comm, &send));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_TRUNCATE, MPI_Wait(&receive, MPI_STATUS_IGNORE));
    EQUAL(heard, 1);
}

int main(int argc, char **argv) {
    static int sent[30000], received[30000];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < 30; round++) {
        MPI_Comm comm;
        MPI_Request requests[4], persistent;
        int mine = rank, sum = -1, value = -1;
        sent[29999] = round + rank;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        OK(MPI_Irecv(received, 30000, MPI_INT, left, 1, comm, &requests[0]));
        OK(MPI_Isend(sent, 30000, MPI_INT, right, 1, comm, &requests[1]));
        OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]));
        OK(MPI_Recv_init(&value, 1, MPI_INT, left, 2, comm, &persistent));
        OK(MPI_Start(&persistent));
        OK(MPI_Isend(&mine, 1, MPI_INT, right, 2, comm, &requests[3]));
        OK(MPI_Comm_free(&comm));
        CHECK(comm == MPI_COMM_NULL, "a freed communicator becomes null");
        OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&persistent));
        EQUAL(received[29999], round + left);
        EQUAL(sum, size * (size - 1) / 2);
        EQUAL(value, left);
    }
    check_errors(left, right);
    return end();
}
