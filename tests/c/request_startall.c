/* MPI_Startall over persistent messages and persistent collectives of several communicators in one array, in another
   order on each rank; what cannot be started starts nothing.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication, Persistent
   Collective Operations. */
#include "random.h"
#include "sorts.h"

enum { MESSAGES = 12, COUNT = MESSAGES + 2 * SORTS, LONG = 20000 };

static int sent[MESSAGES][LONG], received[MESSAGES][LONG];
static Collective collectives[2 * SORTS];

/* Even ones are sends, each received by the next; one of three is long. */
static MPI_Request message(int k) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, count = k / 2 % 3 ? 1 : LONG;
    MPI_Request request;
    if (k % 2)
        OK(MPI_Recv_init(received[k - 1], count, MPI_INT, left, k / 2, MPI_COMM_WORLD, &request));
    else if (k % 4)
        OK(MPI_Ssend_init(sent[k], count, MPI_INT, right, k / 2, MPI_COMM_WORLD, &request));
    else
        OK(MPI_Send_init(sent[k], count, MPI_INT, right, k / 2, MPI_COMM_WORLD, &request));
    return request;
}

static void fill_all(int round) {
    for (int k = 0; k < MESSAGES; k += 2)
        for (int i = 0; i < LONG; i += 999)
            sent[k][i] = 1000 * rank + 50 * k + round + i;
    for (int k = 0; k < 2 * SORTS; k++)
        fill(&collectives[k], round + k);
}

static void verify_all(int round) {
    int left = (rank + size - 1) % size;
    for (int k = 0; k < MESSAGES; k += 2)
        for (int i = 0; i < (k / 2 % 3 ? 1 : LONG); i += 999)
            EQUAL(received[k][i], 1000 * left + 50 * k + round + i);
    for (int k = 0; k < 2 * SORTS; k++)
        verify(&collectives[k], round + k);
}

static void mix(MPI_Request *requests, Random *random) {
    for (int k = COUNT - 1; k > 0; k--) {
        int other = next(random, k + 1);
        MPI_Request swapped = requests[k];
        requests[k] = requests[other];
        requests[other] = swapped;
    }
}

/* The array ends with something that cannot be started: nothing is. */
static void refused(MPI_Request *requests) {
    MPI_Request last = requests[COUNT - 1], other;
    int done;
    requests[COUNT - 1] = MPI_REQUEST_NULL;
    GIVES(MPI_ERR_REQUEST, MPI_Startall(COUNT, requests));
    OK(MPI_Irecv(&done, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &other));
    requests[COUNT - 1] = other;
    GIVES(MPI_ERR_REQUEST, MPI_Startall(COUNT, requests));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    requests[COUNT - 1] = last;
    OK(MPI_Testall(COUNT, requests, &done, MPI_STATUSES_IGNORE));
    CHECK(done, "all are inactive");
}

int main(int argc, char **argv) {
    static MPI_Request requests[COUNT];
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int k = 0; k < COUNT; k++) {
        int i = k - MESSAGES;
        if (i >= 0)
            collectives[i] = collective(comms[i % made], i / 2, i % 3 ? 5 : 4000, i % size);
        if (i >= 0)
            call(&collectives[i], PERSISTENT, &requests[k]);
        else
            requests[k] = message(k);
    }
    Random random = {99 + (unsigned)rank};
    for (int round = 0; round < 40; round++) {
        int early = next(&random, COUNT + 1);
        fill_all(round);
        mix(requests, &random);
        refused(requests);
        OK(MPI_Startall(early, requests));
        GIVES(MPI_ERR_REQUEST, early ? MPI_Startall(COUNT, requests) : MPI_ERR_REQUEST);
        OK(MPI_Startall(COUNT - early, requests + early));
        OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
        verify_all(round);
    }
    for (int k = 0; k < COUNT; k++)
        OK(MPI_Request_free(&requests[k]));
    for (int k = 0; k < 2 * SORTS; k++)
        discard(&collectives[k]);
    free_comms(comms, made);
    return end();
}
