/* Standard, buffered, synchronous and ready sends, blocking and nonblocking.
   MPI-5.0: Point-to-Point Communication, Communication Modes. */
#include "check.h"

static int right, left;

static void expect(MPI_Request *receive, const int *value, int expected) {
    MPI_Status status;
    OK(MPI_Wait(receive, &status));
    check_status(&status, left, expected % 10, MPI_INT, 1);
    EQUAL(*value, expected);
}

/* A receive is posted at the neighbour when this returns, so that even ready sends are right. */
static MPI_Request posted(int *value, int tag) {
    MPI_Request receive;
    OK(MPI_Irecv(value, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &receive));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return receive;
}

static void blocking(void) {
    int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {
        MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    for (int mode = 0; mode < 4; mode++) {
        int value = -1, mine = 10 * rank + mode;
        MPI_Request receive = posted(&value, mode);
        OK(sends[mode](&mine, 1, MPI_INT, right, mode, MPI_COMM_WORLD));
        expect(&receive, &value, 10 * left + mode);
    }
}

static void nonblocking(void) {
    int (*const sends[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    for (int mode = 0; mode < 4; mode++) {
        int value = -1, mine = 10 * rank + mode;
        MPI_Request send, receive = posted(&value, mode);
        OK(sends[mode](&mine, 1, MPI_INT, right, mode, MPI_COMM_WORLD, &send));
        expect(&receive, &value, 10 * left + mode);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        CHECK(send == MPI_REQUEST_NULL, "a completed request becomes null");
    }
}

/* A synchronous send does not complete before its receive has started. */
static void synchronous(void) {
    int value = -1, mine = rank, done = 0;
    MPI_Request send;
    OK(MPI_Issend(&mine, 1, MPI_INT, right, 7, MPI_COMM_WORLD, &send));
    for (int i = 0; i < 100; i++) {
        OK(MPI_Test(&send, &done, MPI_STATUS_IGNORE));
        CHECK(!done, "nobody has received the message");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(value, left);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    static char buffer[1000 + 16 * MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    begin(&argc, &argv);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    blocking();
    nonblocking();
    synchronous();
    OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == buffer, "the buffer that was attached");
    EQUAL(bytes, sizeof buffer);
    return end();
}
