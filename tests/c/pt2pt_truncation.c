/* A message longer than the receive buffer is an error that names both sizes, and nothing is written beyond
   the buffer; the next message is received as usual. MPI-5.0: Point-to-Point Communication, Blocking
   Receive Operation. */
#include "check.h"

static char received[200001];

static void check_text(int code, int capacity, int bytes) {
    char capacity_text[16], bytes_text[16];
    EQUAL(class_of(code), MPI_ERR_TRUNCATE);
    snprintf(capacity_text, sizeof capacity_text, "%d", capacity);
    snprintf(bytes_text, sizeof bytes_text, "%d", bytes);
    CHECK(strstr(text_of(code), capacity_text), "%d is not in '%s'", capacity, text_of(code));
    CHECK(strstr(text_of(code), bytes_text), "%d is not in '%s'", bytes, text_of(code));
}

static void truncate(int bytes, int capacity, int posted_first) {
    static char sent[200000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, next = -1;
    MPI_Request sends[2], receive = MPI_REQUEST_NULL;
    MPI_Status status;
    received[capacity] = 111;
    if (posted_first) {
        OK(MPI_Irecv(received, capacity, MPI_BYTE, left, 1, MPI_COMM_WORLD, &receive));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Isend(sent, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[1]));
    if (posted_first)
        check_text(MPI_Wait(&receive, &status), capacity, bytes);
    else
        check_text(MPI_Recv(received, capacity, MPI_BYTE, left, 1, MPI_COMM_WORLD, &status), capacity, bytes);
    EQUAL(received[capacity], 111);
    OK(MPI_Recv(&next, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(next, left);
    OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int posted_first = 0; posted_first < 2; posted_first++) {
        truncate(9, 8, posted_first);
        truncate(16, 0, posted_first);
        truncate(5000, 4999, posted_first);
        truncate(200000, 100000, posted_first);
        truncate(200000, 3, posted_first);
    }
    return end();
}
