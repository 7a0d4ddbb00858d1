/* More messages wait than their receiver keeps envelopes of: who wants one that lies behind them gets it, in whatever way
   it asks, and order is kept. Run with OXMPI_KEEP_BYTES, so that little is kept. Rank 0 receives from all others.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "check.h"

enum { FIRST, SECOND, LAST, GO };

static int messages = 3000;

/* Each of them sends FIRST and SECOND in turn, some long, and LAST at the end; and goes on when that was received. */
static void send_all(void) {
    enum { LONG = 3000 };
    MPI_Request *requests = malloc((messages + 1) * sizeof *requests);
    int *values = calloc(messages + 1 + LONG, sizeof *values);
    for (int i = 0; i <= messages; i++) {
        values[i] = i;
        OK(MPI_Isend(&values[i], i % 7 ? 1 : LONG, MPI_INT, 0, i == messages ? LAST : i % 2, MPI_COMM_WORLD, &requests[i]));
    }
    OK(MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Waitall(messages + 1, requests, MPI_STATUSES_IGNORE));
    free(values);
    free(requests);
}

static int received[3000];

static int receive(int source, int tag, MPI_Status *status) {
    OK(MPI_Recv(received, 3000, MPI_INT, source, tag, MPI_COMM_WORLD, status));
    return received[0];
}

/* What was sent last comes first, by a probe, a matched probe or a receive. */
static void take_last(int source) {
    MPI_Status status;
    MPI_Message message;
    int flag = 0;
    switch (source % 4) {
    case 0:
        while (!flag)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, LAST, MPI_COMM_WORLD, &flag, &status));
        break;
    case 1:
        OK(MPI_Probe(source, LAST, MPI_COMM_WORLD, &status));
        break;
    case 2:
        OK(MPI_Mprobe(source, LAST, MPI_COMM_WORLD, &message, &status));
        OK(MPI_Mrecv(received, 3000, MPI_INT, &message, &status));
        EQUAL(received[0], messages);
        return;
    case 3:
        while (!flag)
            OK(MPI_Improbe(source, LAST, MPI_COMM_WORLD, &flag, &message, &status));
        OK(MPI_Mrecv(received, 3000, MPI_INT, &message, &status));
        EQUAL(received[0], messages);
        return;
    }
    EQUAL(status.MPI_TAG, LAST);
    EQUAL(receive(status.MPI_SOURCE, LAST, &status), messages);
}

/* The others: SECOND before FIRST from some, from others as they come, and by receives that wait. */
static void receive_rest(int source) {
    MPI_Status status;
    MPI_Request requests[2];
    int values[2][3000];
    for (int i = 0; source % 3 == 0 && i < messages; i++)
        EQUAL(receive(source, MPI_ANY_TAG, &status), i);
    for (int i = 0; source % 3 == 1 && i < messages; i += 2)
        EQUAL(receive(source, SECOND, &status), i + 1);
    for (int i = 0; source % 3 == 1 && i < messages; i += 2)
        EQUAL(receive(source, MPI_ANY_TAG, &status), i);
    for (int i = 0; source % 3 == 2 && i < messages; i += 2) {
        OK(MPI_Irecv(values[0], 3000, MPI_INT, source, SECOND, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Irecv(values[1], 3000, MPI_INT, source, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        EQUAL(values[0][0], i + 1);
        EQUAL(values[1][0], i);
    }
}

/* Sends that wait behind others are cancelled, or received: one of both, at both ends. */
static void cancel_behind(void) {
    int value = 1, flag, cancelled = 0;
    if (rank == 0) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int other = 1; other < size; other++) {
            int left = receive(other, GO, MPI_STATUS_IGNORE);
            for (int i = 0; i < left; i++)
                EQUAL(receive(other, FIRST, MPI_STATUS_IGNORE), 1);
            OK(MPI_Iprobe(other, FIRST, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            EQUAL(flag, 0);
        }
    } else {
        MPI_Request *requests = malloc(messages * sizeof *requests);
        for (int i = 0; i < messages; i++)
            OK(MPI_Isend(&value, 1, MPI_INT, 0, FIRST, MPI_COMM_WORLD, &requests[i]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 1; i < messages; i += 2) {
            MPI_Status status;
            OK(MPI_Cancel(&requests[i]));
            OK(MPI_Wait(&requests[i], &status));
            OK(MPI_Test_cancelled(&status, &flag));
            cancelled += flag;
        }
        int left = messages - cancelled;
        OK(MPI_Send(&left, 1, MPI_INT, 0, GO, MPI_COMM_WORLD));
        OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
        free(requests);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1)
        messages = atoi(argv[1]);
    if (rank == 0) {
        for (int source = 1; source < size; source++)
            take_last(source % 4 == 0 ? 4 : source);
        for (int other = 1; other < size; other++)
            OK(MPI_Send(NULL, 0, MPI_INT, other, GO, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int source = size - 1; source > 0; source--)
            receive_rest(source);
    } else
        send_all();
    cancel_behind();
    return end();
}
