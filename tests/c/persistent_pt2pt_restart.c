/* A request is started 1000 times, each time with what its buffer holds then; short and long messages.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

enum { LONG = 50000 };

static int sent[LONG], received[LONG];

static void restart(int count, int rounds) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, done;
    MPI_Request requests[2];
    MPI_Status status;
    OK(MPI_Recv_init(received, count, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(sent, count, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < rounds; round++) {
        sent[0] = sent[count - 1] = rank * rounds + round;
        OK(MPI_Startall(2, requests));
        OK(MPI_Wait(&requests[0], &status));
        check_status(&status, left, 1, MPI_INT, count);
        EQUAL(received[0], left * rounds + round);
        EQUAL(received[count - 1], left * rounds + round);
        do
            OK(MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE));
        while (!done);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    restart(1, 1000);
    restart(16, 1000);
    restart(1000, 500);
    restart(LONG, 50);
    return end();
}
