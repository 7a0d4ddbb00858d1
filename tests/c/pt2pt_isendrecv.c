/* Isendrecv and Isendrecv_replace go round in a ring, by themselves and against ordinary calls.
   MPI-5.0: Point-to-Point Communication, Send-Receive. */
#include "check.h"

enum { LONGEST = 200000, OUTSTANDING = 5 };

static int sent[OUTSTANDING][LONGEST], received[OUTSTANDING][LONGEST];
static const int COUNTS[OUTSTANDING] = {0, 1, 17, 3000, LONGEST};
static int left, right;

static void fill(int *data, int count, int seed) {
    for (int i = 0; i < count; i++)
        data[i] = seed * 1000003 + i;
}

static void expect(const int *data, int count, int seed) {
    for (int i = 0; i < count; i++)
        EQUAL(data[i], seed * 1000003 + i);
}

/* Several at once, completed together and in another order than they were begun. */
static void outstanding(void) {
    MPI_Request requests[OUTSTANDING];
    MPI_Status statuses[OUTSTANDING];
    int index, flag;
    for (int k = 0; k < OUTSTANDING; k++) {
        fill(sent[k], COUNTS[k], rank);
        OK(MPI_Isendrecv(sent[k], COUNTS[k], MPI_INT, right, k, received[k], LONGEST, MPI_INT, left, k,
            MPI_COMM_WORLD, &requests[k]));
    }
    OK(MPI_Waitall(OUTSTANDING, requests, statuses));
    for (int k = 0; k < OUTSTANDING; k++) {
        CHECK(requests[k] == MPI_REQUEST_NULL, "a completed request is null");
        check_status(&statuses[k], left, k, MPI_INT, COUNTS[k]);
        expect(received[k], COUNTS[k], left);
    }
    for (int k = 0; k < OUTSTANDING; k++)
        OK(MPI_Isendrecv_replace_c(sent[k], COUNTS[k], MPI_INT, right, k, MPI_ANY_SOURCE, k, MPI_COMM_WORLD,
            &requests[k]));
    for (int done = 0; done < OUTSTANDING; done++) {
        OK(MPI_Waitany(OUTSTANDING, requests, &index, &statuses[0]));
        check_status(&statuses[0], left, index, MPI_INT, COUNTS[index]);
        expect(sent[index], COUNTS[index], left);
    }
    OK(MPI_Isendrecv_c(sent[3], 3000, MPI_INT, right, 9, received[3], 3000, MPI_INT, left, 9, MPI_COMM_WORLD,
        &requests[0]));
    do {
        OK(MPI_Request_get_status(requests[0], &flag, &statuses[0]));
    } while (!flag);
    check_status(&statuses[0], left, 9, MPI_INT, 3000);
    OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag, "it is over");
}

/* Its halves are ordinary messages. */
static void halves(void) {
    MPI_Request request, send;
    MPI_Status status;
    OK(MPI_Isendrecv(sent[4], LONGEST, MPI_INT, right, 3, received[4], 1, MPI_INT, left, 2, MPI_COMM_WORLD,
        &request));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &send));
    OK(MPI_Recv(received[3], LONGEST, MPI_INT, left, 3, MPI_COMM_WORLD, &status));
    check_status(&status, left, 3, MPI_INT, LONGEST);
    OK(MPI_Wait(&request, &status));
    check_status(&status, left, 2, MPI_INT, 1);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
}

static void with_nobody(void) {
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Isendrecv(sent[2], 17, MPI_INT, MPI_PROC_NULL, 1, received[2], 17, MPI_INT, MPI_PROC_NULL, 1,
        MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
    OK(MPI_Isendrecv_replace(sent[2], 17, MPI_INT, right, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(received[2], 17, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, &status));
    check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
}

/* A request that is freed or cancelled leaves its messages to themselves. */
static void given_up(void) {
    MPI_Request request;
    MPI_Status status;
    int flag;
    OK(MPI_Isendrecv(sent[4], LONGEST, MPI_INT, right, 6, received[4], LONGEST, MPI_INT, left, 6, MPI_COMM_WORLD,
        &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Sendrecv(NULL, 0, MPI_INT, right, 7, NULL, 0, MPI_INT, left, 7, MPI_COMM_WORLD, &status));
    OK(MPI_Isendrecv(sent[4], LONGEST, MPI_INT, right, 8, received[0], 1, MPI_INT, left, 99, MPI_COMM_WORLD,
        &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Recv(received[1], LONGEST, MPI_INT, left, 8, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag, "what is received was cancelled");
}

static void wrong(void) {
    MPI_Request request;
    MPI_Status status;
    GIVES(MPI_ERR_RANK, MPI_Isendrecv(sent[0], 1, MPI_INT, size, 0, received[0], 1, MPI_INT, left, 0,
        MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_TAG, MPI_Isendrecv(sent[0], 1, MPI_INT, right, -3, received[0], 1, MPI_INT, left, 0,
        MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_TAG, MPI_Isendrecv_replace(sent[0], 1, MPI_INT, right, 0, left, -3, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_COUNT, MPI_Isendrecv_replace(sent[0], -1, MPI_INT, right, 0, left, 0, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_ARG, MPI_Isendrecv(sent[0], 1, MPI_INT, right, 0, received[0], 1, MPI_INT, left, 0,
        MPI_COMM_WORLD, NULL));
    OK(MPI_Isendrecv(sent[0], 2, MPI_INT, right, 5, received[0], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_TRUNCATE, MPI_Wait(&request, &status));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    outstanding();
    halves();
    with_nobody();
    given_up();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    wrong();
    return end();
}
