/* A duplicate has the same group and communicates apart: messages and collectives of one are
   never taken for the other's. MPI-5.0: Groups, Contexts, Communicators, Communicator Constructors. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Comm copies[3] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request sends[4];
    int value, result, found, values[4];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]));
    OK(MPI_Comm_dup(copies[0], &copies[1]));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &copies[2]));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_compare(MPI_COMM_WORLD, copies[i], &result));
        EQUAL(result, MPI_CONGRUENT);
        OK(MPI_Comm_rank(copies[i], &value));
        EQUAL(value, rank);
    }
    for (int i = 0; i < 4; i++) {
        values[i] = 10 * rank + i;
        OK(MPI_Isend(&values[i], 1, MPI_INT, right, 0, i < 3 ? copies[i] : MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = 0; i < 4; i++) {
        MPI_Comm comm = i == 0 ? MPI_COMM_WORLD : copies[3 - i];
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
        EQUAL(value, 10 * left + 3 - i);
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE));
        CHECK(!found, "the other messages belong to other communicators");
    }
    OK(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_free(&copies[i]));
        CHECK(copies[i] == MPI_COMM_NULL, "a freed communicator becomes null");
    }
    return end();
}
