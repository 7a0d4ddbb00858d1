/* Sendrecv and Sendrecv_replace go round in a ring, by themselves and against ordinary calls.
   MPI-5.0: Point-to-Point Communication, Send-Receive. */
#include "check.h"

enum { LONGEST = 200000 };

static int sent[LONGEST], received[LONGEST];

static void fill(int *data, int count, int seed) {
    for (int i = 0; i < count; i++)
        data[i] = seed * 1000003 + i;
}

static void expect(const int *data, int count, int seed) {
    for (int i = 0; i < count; i++)
        EQUAL(data[i], seed * 1000003 + i);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 17, 3000, LONGEST};
    MPI_Status status;
    MPI_Request request;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int k = 0; k < 5; k++) {
        int count = counts[k];
        fill(sent, count, rank);
        OK(MPI_Sendrecv(sent, count, MPI_INT, right, k, received, LONGEST, MPI_INT, left, k, MPI_COMM_WORLD,
            &status));
        check_status(&status, left, k, MPI_INT, count);
        expect(received, count, left);
        OK(MPI_Sendrecv_c(sent, count, MPI_INT, right, k, received, LONGEST, MPI_INT, MPI_ANY_SOURCE,
            MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        check_status(&status, left, k, MPI_INT, count);
        OK(MPI_Sendrecv_replace(sent, count, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, &status));
        check_status(&status, left, 1, MPI_INT, count);
        expect(sent, count, left);
    }
    /* Its halves are ordinary messages. */
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 3, received, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &status));
    check_status(&status, left, 2, MPI_INT, 1);
    OK(MPI_Recv(received, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return end();
}
