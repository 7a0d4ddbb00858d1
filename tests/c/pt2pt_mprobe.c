/* A message taken by a matching probe is received by its handle alone, later ones are not affected.
   MPI-5.0: Point-to-Point Communication, Matching Probe. */
#include "check.h"

enum { LONG = 60000 };

int main(int argc, char **argv) {
    static int sent[3][LONG], received[LONG];
    int counts[3] = {2, LONG, 4}, found = 0;
    MPI_Request sends[3], receive;
    MPI_Message first, second = MPI_MESSAGE_NULL;
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < counts[m]; i++)
            sent[m][i] = 1000 * m + rank;
        OK(MPI_Isend(sent[m], counts[m], MPI_INT, right, 5, MPI_COMM_WORLD, &sends[m]));
    }
    OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first, &status));
    check_status(&status, left, 5, MPI_INT, counts[0]);
    while (!found)
        OK(MPI_Improbe(left, 5, MPI_COMM_WORLD, &found, &second, &status));
    check_status(&status, left, 5, MPI_INT, counts[1]);
    /* What remains for others is the third message. */
    OK(MPI_Recv(received, LONG, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_status(&status, left, 5, MPI_INT, counts[2]);
    EQUAL(received[3], 2000 + left);
    OK(MPI_Imrecv(received, LONG, MPI_INT, &second, &receive));
    CHECK(second == MPI_MESSAGE_NULL, "a message that is being received becomes null");
    OK(MPI_Wait(&receive, &status));
    check_status(&status, left, 5, MPI_INT, counts[1]);
    EQUAL(received[LONG - 1], 1000 + left);
    OK(MPI_Mrecv(received, LONG, MPI_INT, &first, &status));
    check_status(&status, left, 5, MPI_INT, counts[0]);
    EQUAL(received[1], left);
    GIVES(MPI_ERR_REQUEST, MPI_Mrecv(received, LONG, MPI_INT, &first, &status));
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    return end();
}
