/* A message sent by a persistent request can be received by any receive and seen by any probe, and the other
   way round; messages keep their order whichever way they are sent.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

static int right, left;

static void persistent_to_ordinary(void) {
    int values[3], received[3], count;
    MPI_Request send, ordinary, receive;
    MPI_Status status;
    MPI_Message message;
    OK(MPI_Send_init(&values[1], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &send));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 3; i++)
            values[i] = 100 * rank + 3 * round + i;
        OK(MPI_Irecv(&received[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
        OK(MPI_Isend(&values[0], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &ordinary));
        OK(MPI_Start(&send));
        OK(MPI_Wait(&ordinary, MPI_STATUS_IGNORE));
        OK(MPI_Isend(&values[2], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &ordinary));
        OK(MPI_Probe(left, 4, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        EQUAL(count, 1);
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        if (round % 2) {
            OK(MPI_Mprobe(left, 4, MPI_COMM_WORLD, &message, &status));
            OK(MPI_Mrecv(&received[1], 1, MPI_INT, &message, &status));
        } else {
            OK(MPI_Recv(&received[1], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &status));
        }
        OK(MPI_Recv(&received[2], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &status));
        for (int i = 0; i < 3; i++)
            EQUAL(received[i], 100 * left + 3 * round + i);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&ordinary, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&send));
}

static void ordinary_to_persistent(void) {
    int value;
    MPI_Request receive, send;
    MPI_Status status;
    OK(MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receive));
    for (int round = 0; round < 20; round++) {
        int mine = 100 * rank + round;
        OK(MPI_Start(&receive));
        OK(MPI_Isend(&mine, 1, MPI_INT, right, round, MPI_COMM_WORLD, &send));
        OK(MPI_Wait(&receive, &status));
        check_status(&status, left, round, MPI_INT, 1);
        EQUAL(value, 100 * left + round);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Request_free(&receive));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    persistent_to_ordinary();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    ordinary_to_persistent();
    return end();
}
