/* A tool inside the program defines MPI_Send and calls PMPI_Send: it sees every call of the program, and none
   that the library makes by itself. MPI-5.0: Profiling Interface. */
#include "check.h"

static int sends;

int MPI_Send(const void *data, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    sends++;
    return PMPI_Send(data, count, type, dest, tag, comm);
}

int main(int argc, char **argv) {
    int value, sum;
    MPI_Request receive;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Irecv(&value, 1, MPI_INT, left, i, MPI_COMM_WORLD, &receive));
        OK(MPI_Send(&rank, 1, MPI_INT, right, i, MPI_COMM_WORLD));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EQUAL(value, left);
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    }
    EQUAL(sends, 3);
    return end();
}
