/* An active request may be freed: the handle becomes null at once, the communication still completes.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

enum { LONG = 100000 };

int main(int argc, char **argv) {
    static int sent[LONG], received[LONG];
    MPI_Request send, receive;
    int arrived = -1;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int count = 1; count <= LONG; count *= 10) {
        sent[count - 1] = 10 * rank + count;
        OK(MPI_Send_init(sent, count, MPI_INT, right, 1, MPI_COMM_WORLD, &send));
        OK(MPI_Recv_init(received, count, MPI_INT, left, 1, MPI_COMM_WORLD, &receive));
        OK(MPI_Start(&send));
        OK(MPI_Request_free(&send));
        CHECK(send == MPI_REQUEST_NULL, "a freed request becomes null");
        OK(MPI_Start(&receive));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EQUAL(received[count - 1], 10 * left + count);
        OK(MPI_Request_free(&receive));
        /* The send buffer may change only once the message has left it. */
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }

    /* A freed receive is seen to be complete by what its sender says afterwards. */
    OK(MPI_Recv_init(&arrived, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &receive));
    OK(MPI_Start(&receive));
    OK(MPI_Request_free(&receive));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD));
    OK(MPI_Recv(received, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(arrived, left);
    return end();
}
