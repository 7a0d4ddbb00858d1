/* A communicator may be freed while operations on it are pending: they complete as usual.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Destructors. */
#include "check.h"

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
    return end();
}
