/* A storm of messages between random ranks: of all modes, lengths and tags, received by all ways of receiving.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "check.h"
#include "random.h"

enum { MESSAGES = 200, LONGEST = 100000, TAGS = 4 };

typedef struct { int from, to, tag, count, mode, way; } Message;

static Message messages[MESSAGES];
static int sent[MESSAGES][LONGEST], received[MESSAGES][LONGEST];

static void draw(Random *random) {
    for (int m = 0; m < MESSAGES; m++) {
        Message *message = &messages[m];
        *message = (Message){next(random, size), next(random, size), next(random, TAGS),
            next_length(random, LONGEST), next(random, 3), next(random, 4)};
        for (int i = 0; i < message->count; i++)
            sent[m][i] = m * LONGEST + i;
    }
}

static MPI_Request send(int m) {
    const Message *it = &messages[m];
    MPI_Request request;
    if (it->mode == 0) {
        OK(MPI_Isend(sent[m], it->count, MPI_INT, it->to, it->tag, MPI_COMM_WORLD, &request));
    } else if (it->mode == 1) {
        OK(MPI_Issend(sent[m], it->count, MPI_INT, it->to, it->tag, MPI_COMM_WORLD, &request));
    } else {
        OK(MPI_Send_init(sent[m], it->count, MPI_INT, it->to, it->tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
    }
    return request;
}

/* Messages of one sender and tag come in order, so that it is known which one a receive takes. */
static MPI_Request receive(int m) {
    const Message *it = &messages[m];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message handle;
    MPI_Status status;
    if (it->way == 0) {
        OK(MPI_Irecv(received[m], it->count, MPI_INT, it->from, it->tag, MPI_COMM_WORLD, &request));
    } else if (it->way == 1) {
        OK(MPI_Recv_init(received[m], it->count, MPI_INT, it->from, it->tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
    } else if (it->way == 2) {
        OK(MPI_Mprobe(it->from, it->tag, MPI_COMM_WORLD, &handle, &status));
        check_status(&status, it->from, it->tag, MPI_INT, it->count);
        OK(MPI_Imrecv(received[m], it->count, MPI_INT, &handle, &request));
    } else {
        OK(MPI_Recv(received[m], it->count, MPI_INT, it->from, it->tag, MPI_COMM_WORLD, &status));
        check_status(&status, it->from, it->tag, MPI_INT, it->count);
    }
    return request;
}

static void finish(MPI_Request *request) {
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (*request != MPI_REQUEST_NULL)
        OK(MPI_Request_free(request));
}

int main(int argc, char **argv) {
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    Random random = {argc > 1 ? strtoull(argv[1], NULL, 10) : 42};
    begin(&argc, &argv);
    for (int round = 0; round < 6; round++) {
        draw(&random);
        for (int m = 0; m < MESSAGES; m++) {
            sends[m] = messages[m].from == rank ? send(m) : MPI_REQUEST_NULL;
            receives[m] = messages[m].to == rank ? receive(m) : MPI_REQUEST_NULL;
        }
        for (int m = 0; m < MESSAGES; m++) {
            finish(&receives[(m * 7) % MESSAGES]);
            finish(&sends[(m * 11) % MESSAGES]);
        }
        for (int m = 0; m < MESSAGES; m++)
            for (int i = 0; messages[m].to == rank && i < messages[m].count; i += 1 + i / 8)
                EQUAL(received[m][i], m * LONGEST + i);
    }
    return end();
}
