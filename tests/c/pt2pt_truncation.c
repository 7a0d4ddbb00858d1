/* A message longer than the receive buffer is an error that names both sizes, and nothing is written beyond
   the buffer; the status tells whose message it was, and the next one is received as usual. MPI-5.0:
   Point-to-Point Communication, Blocking Receive Operation. */
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

enum { RECEIVED, POSTED, EXCHANGED, REPLACED, PROBED, WAYS };

static char sent[200000];

/* Receives what does not fit; returns the code. */
static int receive(int way, int capacity, int left, MPI_Request *posted, MPI_Status *status) {
    MPI_Message message;
    switch (way) {
    case POSTED:
        return MPI_Wait(posted, status);
    case EXCHANGED:
        return MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 2, received, capacity, MPI_BYTE, left, 1,
                            MPI_COMM_WORLD, status);
    case REPLACED:
        return MPI_Sendrecv_replace(received, capacity, MPI_BYTE, MPI_PROC_NULL, 2, left, 1, MPI_COMM_WORLD, status);
    case PROBED:
        OK(MPI_Mprobe(left, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
        return MPI_Mrecv(received, capacity, MPI_BYTE, &message, status);
    default:
        return MPI_Recv(received, capacity, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status);
    }
}

static void truncate(int bytes, int capacity, int way) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, next = -1;
    MPI_Request sends[2], posted = MPI_REQUEST_NULL;
    MPI_Status status = { .MPI_SOURCE = -77, .MPI_TAG = -77 };
    received[capacity] = 111;
    if (way == POSTED) {
        OK(MPI_Irecv(received, capacity, MPI_BYTE, left, 1, MPI_COMM_WORLD, &posted));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Isend(sent, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &sends[1]));
    check_text(receive(way, capacity, left, &posted, &status), capacity, bytes);
    EQUAL(status.MPI_SOURCE, left);
    EQUAL(status.MPI_TAG, 1);
    EQUAL(received[capacity], 111);
    OK(MPI_Recv(&next, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(next, left);
    OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int way = 0; way < WAYS; way++) {
        truncate(9, 8, way);
        truncate(16, 0, way);
        truncate(5000, 4999, way);
        truncate(200000, 100000, way);
        truncate(200000, 3, way);
    }
    return end();
}
