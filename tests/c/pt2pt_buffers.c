/* Buffers for buffered sends: how much fits in, when it comes free, and whose buffer is taken.
   MPI-5.0: Point-to-Point Communication, Buffer Allocation and Usage. */
#include "check.h"

/* So long that MPI_BSEND_OVERHEAD makes no difference. */
enum { BYTES = 100000, LONG = 300000 };
static char room[1 << 20], message[LONG], received[LONG];
static const int needed = BYTES + MPI_BSEND_OVERHEAD;

static void attach(int bytes) {
    OK(MPI_Buffer_attach(room, bytes));
}

static void detach(int expected_bytes) {
    void *buffer = NULL;
    int bytes = -1;
    OK(MPI_Buffer_detach(&buffer, &bytes));
    CHECK(buffer == room, "the buffer that was attached");
    EQUAL(bytes, expected_bytes);
}

/* A message to this rank itself is in the buffer until it is received. */
static int bsend(int tag) {
    memset(message, tag, BYTES);
    return MPI_Bsend(message, BYTES, MPI_BYTE, 0, tag, MPI_COMM_SELF);
}

static void receive(int tag) {
    MPI_Status status;
    OK(MPI_Recv(received, BYTES, MPI_BYTE, 0, tag, MPI_COMM_SELF, &status));
    check_status(&status, 0, tag, MPI_BYTE, BYTES);
    EQUAL(received[0], tag);
    EQUAL(received[BYTES - 1], tag);
}

static void as_much_fits_in_as_there_is_room(void) {
    attach(BYTES - 1);
    GIVES(MPI_ERR_BUFFER, bsend(1));
    detach(BYTES - 1);
    attach(3 * needed);
    for (int round = 0; round < 5; round++) {
        for (int tag = 1; tag <= 3; tag++)
            OK(bsend(tag));
        GIVES(MPI_ERR_BUFFER, bsend(4));
        receive(2);
        OK(bsend(4));
        GIVES(MPI_ERR_BUFFER, bsend(5));
        receive(1), receive(4), receive(3);
    }
    detach(3 * needed);
    attach(MPI_BSEND_OVERHEAD);
    OK(MPI_Bsend(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_SELF));
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 6, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    detach(MPI_BSEND_OVERHEAD);
}

/* Short messages leave at once for a receiver that has room: any number of them goes by a small buffer, in time. */
static void room_is_used_again(void) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    attach(LONG + MPI_BSEND_OVERHEAD);
    for (int round = 0; round < 50; round++) {
        memset(message, round, LONG);
        OK(MPI_Ibsend(message, LONG, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[0]));
        memset(message, -1, LONG);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Irecv(received, LONG, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        EQUAL(received[0], round);
        EQUAL(received[LONG - 1], round);
        /* Everybody has received; on another node that may not be known here yet. */
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Buffer_flush());
    }
    detach(LONG + MPI_BSEND_OVERHEAD);
}

/* Ranks send and receive in pairs: the even one to the odd one. */
enum { DATA = 1, AFTER, GO };

static int is_sender(void) {
    return rank % 2 == 0 && rank + 1 < size;
}

static void send_long(void) {
    attach(sizeof room);
    memset(message, rank + 1, LONG);
    OK(MPI_Bsend(message, LONG, MPI_BYTE, rank + 1, DATA, MPI_COMM_WORLD));
}

static void receive_long(void) {
    OK(MPI_Recv(received, LONG, MPI_BYTE, rank - 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(received[0], rank);
    EQUAL(received[LONG - 1], rank);
}

/* The sender goes on only when the message is taken. */
static void detaching_and_flushing_wait(int flush) {
    int flag;
    if (is_sender()) {
        send_long();
        if (flush) {
            OK(MPI_Buffer_flush());
            OK(MPI_Send(NULL, 0, MPI_BYTE, rank + 1, AFTER, MPI_COMM_WORLD));
        }
        detach(sizeof room);
        if (!flush)
            OK(MPI_Send(NULL, 0, MPI_BYTE, rank + 1, AFTER, MPI_COMM_WORLD));
    } else if (rank % 2) {
        OK(MPI_Probe(rank - 1, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int look = 0; look < 1000; look++) {
            OK(MPI_Iprobe(rank - 1, AFTER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "the message is in the buffer still");
        }
        receive_long();
        OK(MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void a_request_is_complete_when_all_is_sent(void) {
    MPI_Request request;
    MPI_Status status;
    int flag;
    if (is_sender()) {
        send_long();
        OK(MPI_Buffer_iflush(&request));
        for (int look = 0; look < 1000; look++) {
            OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "nobody has received the message");
            OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "nobody has received the message");
        }
        OK(MPI_Send(NULL, 0, MPI_BYTE, rank + 1, GO, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, &status));
        check_empty(&status);
        CHECK(request == MPI_REQUEST_NULL, "a completed request becomes null");
        detach(sizeof room);
    } else if (rank % 2) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        receive_long();
    }
}

static void a_flush_is_of_the_messages_before_it(void) {
    MPI_Request requests[2];
    int flag;
    attach(2 * needed);
    OK(MPI_Buffer_iflush(&requests[0]));
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag, "there was nothing to send");
    OK(bsend(1));
    OK(MPI_Buffer_iflush(&requests[0]));
    OK(bsend(2));
    OK(MPI_Buffer_iflush(&requests[1]));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&requests[1]));
    receive(1);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "the second message is in the buffer still");
    receive(2);
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    detach(2 * needed);
    OK(MPI_Buffer_flush());
}

/* A communicator's own buffer is taken, whether or not there is room in it; duplicates have none. */
static void communicators_have_buffers_of_their_own(void) {
    MPI_Comm own, other;
    MPI_Request request;
    static char own_room[BYTES + MPI_BSEND_OVERHEAD];
    void *buffer;
    MPI_Count bytes;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    OK(MPI_Comm_attach_buffer(own, own_room, sizeof own_room));
    OK(MPI_Comm_dup(own, &other));
    OK(MPI_Bsend(message, BYTES, MPI_BYTE, 0, 1, own));
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(message, 1, MPI_BYTE, 0, 1, other));
    attach(sizeof room);
    OK(MPI_Bsend(message, LONG, MPI_BYTE, 0, 1, other));
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(message, BYTES, MPI_BYTE, 0, 1, own));
    OK(MPI_Comm_iflush_buffer(own, &request));
    OK(MPI_Recv(received, BYTES, MPI_BYTE, 0, 1, own, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_flush_buffer(own));
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(message, LONG, MPI_BYTE, 0, 1, own));
    GIVES(MPI_ERR_BUFFER, MPI_Comm_attach_buffer(own, room, sizeof room));
    GIVES(MPI_ERR_BUFFER, MPI_Comm_detach_buffer_c(other, &buffer, &bytes));
    OK(MPI_Comm_detach_buffer_c(own, &buffer, &bytes));
    CHECK(buffer == own_room, "the buffer that was attached");
    EQUAL(bytes, sizeof own_room);
    OK(MPI_Recv(received, LONG, MPI_BYTE, 0, 1, other, MPI_STATUS_IGNORE));
    OK(MPI_Bsend(message, LONG, MPI_BYTE, 0, 1, own));
    OK(MPI_Recv(received, LONG, MPI_BYTE, 0, 1, own, MPI_STATUS_IGNORE));
    detach(sizeof room);
    OK(MPI_Comm_attach_buffer(own, own_room, sizeof own_room));
    OK(MPI_Comm_free(&own));
    OK(MPI_Comm_free(&other));
}

static void persistent_sends_need_room_at_each_start(void) {
    static char data[BYTES];
    MPI_Request request;
    OK(MPI_Bsend_init(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    GIVES(MPI_ERR_BUFFER, MPI_Start(&request));
    attach(2 * needed);
    for (int round = 0; round < 5; round++) {
        memset(data, 1, BYTES);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        memset(data, 2, BYTES);
        OK(MPI_Startall(1, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        GIVES(MPI_ERR_BUFFER, MPI_Start(&request));
        GIVES(MPI_ERR_BUFFER, MPI_Startall(1, &request));
        for (int value = 1; value <= 2; value++) {
            OK(MPI_Recv(received, BYTES, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
            EQUAL(received[0], value);
            EQUAL(received[BYTES - 1], value);
        }
    }
    OK(MPI_Request_free(&request));
    detach(2 * needed);
}

static void automatic_buffers_have_room_for_all(void) {
    void *buffer;
    int bytes = -1;
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1));
    GIVES(MPI_ERR_BUFFER, MPI_Buffer_attach(room, sizeof room));
    for (int tag = 1; tag <= 100; tag++)
        OK(bsend(tag));
    for (int tag = 100; tag >= 1; tag--)
        receive(tag);
    OK(MPI_Buffer_detach(&buffer, &bytes));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC, "what was attached");
    EQUAL(bytes, 0);
}

static void misuse(void) {
    MPI_Request request = MPI_REQUEST_NULL;
    void *buffer = NULL;
    int bytes = -1;
    GIVES(MPI_ERR_BUFFER, bsend(1));
    GIVES(MPI_ERR_BUFFER, MPI_Ibsend(message, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    CHECK(request == MPI_REQUEST_NULL, "nothing was begun");
    OK(MPI_Bsend(message, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_SELF));
    GIVES(MPI_ERR_BUFFER, MPI_Buffer_detach(&buffer, &bytes));
    GIVES(MPI_ERR_BUFFER, MPI_Buffer_attach(NULL, 1));
    GIVES(MPI_ERR_ARG, MPI_Buffer_attach(room, -1));
    GIVES(MPI_ERR_ARG, MPI_Buffer_iflush(NULL));
    attach(0);
    GIVES(MPI_ERR_BUFFER, MPI_Buffer_attach(room, sizeof room));
    GIVES(MPI_ERR_BUFFER, MPI_Bsend(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF));
    GIVES(MPI_ERR_ARG, MPI_Buffer_detach(NULL, &bytes));
    GIVES(MPI_ERR_ARG, MPI_Buffer_detach(&buffer, NULL));
    detach(0);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    misuse();
    as_much_fits_in_as_there_is_room();
    room_is_used_again();
    detaching_and_flushing_wait(0);
    detaching_and_flushing_wait(1);
    a_request_is_complete_when_all_is_sent();
    a_flush_is_of_the_messages_before_it();
    communicators_have_buffers_of_their_own();
    persistent_sends_need_room_at_each_start();
    automatic_buffers_have_room_for_all();
    return end();
}
