/* Probe and Iprobe show the message that a receive with the same arguments would take.
   MPI-5.0: Point-to-Point Communication, Probe and Cancel. */
#include "check.h"

int main(int argc, char **argv) {
    static int sent[50000], received[50000];
    MPI_Request sends[3];
    MPI_Status status;
    int found, counts[3] = {1, 50000, 12};
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status));
    CHECK(!found, "nothing was sent");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int m = 0; m < 3; m++)
        OK(MPI_Isend(sent, counts[m], MPI_INT, right, m, MPI_COMM_WORLD, &sends[m]));
    OK(MPI_Probe(left, 1, MPI_COMM_WORLD, &status));
    check_status(&status, left, 1, MPI_INT, 50000);
    do
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &found, &status));
    while (!found);
    check_status(&status, left, 2, MPI_INT, 12);
    OK(MPI_Iprobe(left, 3, MPI_COMM_WORLD, &found, &status));
    CHECK(!found, "no message has tag 3");
    for (int m = 0; m < 3; m++) {
        int count;
        OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        EQUAL(count, counts[m]);
        OK(MPI_Recv(received, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &status));
        check_status(&status, left, m, MPI_INT, counts[m]);
    }
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    return end();
}
