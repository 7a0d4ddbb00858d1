/* Messages between the processes of several jobs: modes, lengths, datatypes, wildcards, probes, cancelling, persistent
   requests. MPI-5.0: Point-to-Point Communication. */
#include "jobs.h"

enum { LONGEST = 1 << 20, MESSAGES = 40 };

static int *sent, *received;
static int to, from;

typedef int Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static Send *const sends[] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
static Isend *const isends[] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
static Isend *const inits[] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};

enum { MODES = 4, READY = 3 };

static void fill(int count, int round) {
    for (int i = 0; i < count; i++) {
        sent[i] = rank * 1000003 + i * 7 + round;
        received[i] = -1;
    }
}

static void check(int count, int round) {
    for (int i = 0; i < count; i++)
        EQUAL(received[i], from * 1000003 + i * 7 + round);
}

/* Each to the next, around all jobs. */
static void check_modes(void) {
    static const int counts[] = {0, 1, 100, 1000, 20000, LONGEST};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int mode = 0; mode < MODES; mode++)
            for (int lifetime = 0; lifetime < 3; lifetime++) {
                MPI_Request requests[2];
                MPI_Status status;
                int count = counts[c], tag = mode;
                fill(count, lifetime);
                OK(MPI_Irecv(received, LONGEST, MPI_INT, from, tag, everybody, &requests[0]));
                if (mode == READY)
                    OK(MPI_Barrier(everybody));
                if (lifetime == 0) {
                    OK(sends[mode](sent, count, MPI_INT, to, tag, everybody));
                } else {
                    OK((lifetime == 1 ? isends : inits)[mode](sent, count, MPI_INT, to, tag, everybody, &requests[1]));
                    if (lifetime == 2)
                        OK(MPI_Start(&requests[1]));
                    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
                    if (lifetime == 2)
                        OK(MPI_Request_free(&requests[1]));
                }
                OK(MPI_Wait(&requests[0], &status));
                check_status(&status, from, tag, MPI_INT, count);
                check(count, lifetime);
            }
}

/* Columns of a matrix to rows of memory. */
static void check_datatypes(void) {
    enum { ROWS = 700, COLUMNS = 30 };
    MPI_Datatype column;
    MPI_Status status;
    OK(MPI_Type_vector(ROWS, 2, COLUMNS, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    fill(ROWS * COLUMNS, 0);
    OK(MPI_Sendrecv(sent + 3, 1, column, to, 9, received, 2 * ROWS, MPI_INT, from, 9, everybody, &status));
    check_status(&status, from, 9, MPI_INT, 2 * ROWS);
    for (int i = 0; i < 2 * ROWS; i++)
        EQUAL(received[i], from * 1000003 + (3 + i / 2 * COLUMNS + i % 2) * 7);
    fill(ROWS * COLUMNS, 1);
    OK(MPI_Sendrecv(sent, 2 * ROWS, MPI_INT, to, 9, received, 1, column, from, 9, everybody, &status));
    for (int i = 0; i < 2 * ROWS; i++)
        EQUAL(received[i / 2 * COLUMNS + i % 2], from * 1000003 + i * 7 + 1);
    EQUAL(received[2], -1);
    OK(MPI_Type_free(&column));
}

/* From anybody, in the order in which each has sent; some after they were probed. */
static void check_wildcards(void) {
    int next[64] = {0}, expected = (size - 1) * MESSAGES, message = 0, flag;
    MPI_Request *requests = malloc(sizeof *requests * (size_t)(expected + 1));
    int *values = malloc(sizeof *values * (size_t)(expected + 1));
    for (int m = 0; m < MESSAGES; m++)
        for (int r = 0; r < size; r++)
            if (r != rank) {
                values[message] = rank * 1000 + m;
                OK(MPI_Isend(&values[message], 1, MPI_INT, r, m % 3, everybody, &requests[message]));
                message++;
            }
    for (int m = 0; m < expected; m++) {
        MPI_Status status;
        MPI_Message found;
        int value;
        if (m % 3 == 0) {
            OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, everybody, &status));
        } else if (m % 3 == 1) {
            OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, everybody, &status));
            OK(MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, everybody, &status));
        } else {
            do
                OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, everybody, &flag, &found, &status));
            while (!flag);
            OK(MPI_Mrecv(&value, 1, MPI_INT, &found, &status));
        }
        EQUAL(value, status.MPI_SOURCE * 1000 + next[status.MPI_SOURCE]);
        EQUAL(status.MPI_TAG, next[status.MPI_SOURCE] % 3);
        next[status.MPI_SOURCE]++;
    }
    OK(MPI_Waitall(message, requests, MPI_STATUSES_IGNORE));
    free(requests);
    free(values);
    OK(MPI_Barrier(everybody));
}

static void check_persistent(void) {
    static const int counts[] = {1, 3000, 300000};
    MPI_Request requests[2 * 3];
    fill(LONGEST, 0);
    for (int c = 0; c < 3; c++) {
        int begin = c == 0 ? 0 : c == 1 ? 10 : 5000;
        OK(MPI_Recv_init(received + begin, counts[c], MPI_INT, from, c, everybody, &requests[2 * c]));
        OK(inits[c % 2](sent + begin, counts[c], MPI_INT, to, c, everybody, &requests[2 * c + 1]));
    }
    for (int round = 0; round < 10; round++) {
        fill(LONGEST / 2, round);
        OK(MPI_Startall(6, requests));
        OK(MPI_Waitall(6, requests, MPI_STATUSES_IGNORE));
        EQUAL(received[0], from * 1000003 + round);
        for (int i = 10; i < 3010; i++)
            EQUAL(received[i], from * 1000003 + i * 7 + round);
        for (int i = 5000; i < 305000; i++)
            EQUAL(received[i], from * 1000003 + i * 7 + round);
    }
    for (int r = 0; r < 6; r++)
        OK(MPI_Request_free(&requests[r]));
}

/* What is not received can be taken back; what is too long is an error, and the next message comes. */
static void check_odds(void) {
    MPI_Request request;
    MPI_Status status;
    int flag, value = rank, small;
    OK(MPI_Issend(&value, 1, MPI_INT, to, 77, everybody, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag, "nobody receives it");
    OK(MPI_Barrier(everybody));
    OK(MPI_Irecv(&small, 1, MPI_INT, from, 5, everybody, &request));
    fill(2000, 0);
    OK(MPI_Send(sent, 2000, MPI_INT, to, 5, everybody));
    OK(MPI_Send(&value, 1, MPI_INT, to, 5, everybody));
    GIVES(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Recv(&small, 1, MPI_INT, from, 5, everybody, MPI_STATUS_IGNORE));
    EQUAL(small, from);
    OK(MPI_Irecv(&small, 1, MPI_INT, from, 6, everybody, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag, "nothing has come");
}

int main(int argc, char **argv) {
    begin_jobs(&argc, &argv);
    size_t bytes = (LONGEST + 1000) * sizeof(int);
    /* What the next one has not received yet is still in it. */
    int buffer_bytes = 6 * (int)bytes;
    void *buffer = malloc((size_t)buffer_bytes);
    sent = malloc(bytes), received = malloc(bytes);
    OK(MPI_Buffer_attach(buffer, buffer_bytes));
    to = (rank + 1) % size, from = (rank + size - 1) % size;
    check_modes();
    check_datatypes();
    check_wildcards();
    check_persistent();
    check_odds();
    OK(MPI_Barrier(everybody));
    OK(MPI_Buffer_detach(&buffer, &(int){0}));
    return end_jobs();
}
