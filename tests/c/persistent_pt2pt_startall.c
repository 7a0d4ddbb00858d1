/* Startall starts all of an array, in whatever order receives and sends stand in it; a halo exchange with
   every other rank. MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

enum { MOST = 8, COUNT = 300 };

int main(int argc, char **argv) {
    static int sent[MOST][COUNT], received[MOST][COUNT];
    MPI_Request requests[2 * MOST];
    MPI_Status statuses[2 * MOST];
    begin(&argc, &argv);
    for (int other = 0; other < size; other++) {
        int at = rank % 2 ? 2 * other : 2 * (size - 1 - other);
        OK(MPI_Recv_init(received[other], COUNT, MPI_INT, other, 9, MPI_COMM_WORLD, &requests[at]));
        OK(MPI_Send_init(sent[other], COUNT, MPI_INT, other, 9, MPI_COMM_WORLD, &requests[at + 1]));
    }
    for (int round = 0; round < 100; round++) {
        for (int other = 0; other < size; other++)
            for (int i = 0; i < COUNT; i++)
                sent[other][i] = 10000 * rank + 1000 * other + round;
        OK(MPI_Startall(2 * size, requests));
        OK(MPI_Waitall(2 * size, requests, statuses));
        for (int other = 0; other < size; other++) {
            int at = rank % 2 ? 2 * other : 2 * (size - 1 - other);
            check_status(&statuses[at], other, 9, MPI_INT, COUNT);
            EQUAL(received[other][COUNT - 1], 10000 * other + 1000 * rank + round);
        }
    }
    for (int i = 0; i < 2 * size; i++)
        OK(MPI_Request_free(&requests[i]));
    OK(MPI_Startall(0, requests));
    return end();
}
