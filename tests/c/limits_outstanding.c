/* A hundred thousand requests of each kind under way at a time, completed by all functions.
   MPI-5.0: Point-to-Point Communication, Nonblocking Communication; Multiple Completions; Generalized Requests. */
#include "check.h"
#include "random.h"

enum { MANY = 100000 };

static MPI_Request requests[MANY];
static MPI_Status statuses[MANY];
static int order[MANY], sent[MANY], received[MANY], done[MANY];
static int peer, freed;

/* Completes all: some by Waitany and Testany, many by Waitsome and Testsome, the others by Waitall. */
static void complete(void) {
    int count, index, flag, left = MANY;
    for (int i = 0; i < 20; i++) {
        OK(MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE));
        CHECK(index != MPI_UNDEFINED, "requests are active");
        OK(MPI_Testany(MANY, requests, &index, &flag, MPI_STATUS_IGNORE));
        left -= 1 + flag;
    }
    for (int i = 0; i < 10 && left > 0; i++) {
        OK(MPI_Waitsome(MANY, requests, &count, done, statuses));
        left -= count;
        OK(MPI_Testsome(MANY, requests, &count, done, statuses));
        left -= count == MPI_UNDEFINED ? 0 : count;
    }
    CHECK(left >= 0, "%d more than all were completed", -left);
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag, "all are complete");
}

static void check_received(int first) {
    for (int i = 0; i < MANY; i++)
        EQUAL(received[i], first + i);
}

/* Every message has a tag of its own, and is received in another order than sent: `first` posted, or sent. */
static void messages(int is_synchronous, int receives_first) {
    for (int i = 0; i < MANY; i++) {
        sent[i] = 7 + i;
        received[i] = -1;
    }
    if (receives_first && rank == 1)
        for (int i = 0; i < MANY; i++)
            OK(MPI_Irecv(&received[order[i]], 1, MPI_INT, peer, order[i], MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; rank == 0 && i < MANY; i++)
        OK((is_synchronous ? MPI_Issend : MPI_Isend)(&sent[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]));
    if (!receives_first && rank == 1)
        for (int i = 0; i < MANY; i++)
            OK(MPI_Irecv(&received[order[i]], 1, MPI_INT, peer, order[i], MPI_COMM_WORLD, &requests[i]));
    complete();
    if (rank == 1)
        check_received(7);
}

static void persistent(void) {
    for (int i = 0; i < MANY; i++)
        if (rank == 0)
            OK(MPI_Send_init(&sent[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]));
        else
            OK(MPI_Recv_init(&received[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            sent[i] = 1000 * round + i;
        OK(MPI_Startall(MANY, requests));
        complete();
        if (rank == 1)
            check_received(1000 * round);
    }
    for (int i = 0; i < MANY; i++)
        OK(MPI_Request_free(&requests[i]));
}

static int tells_nothing(void *state, MPI_Status *status) {
    (void)state;
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int is_freed(void *state) {
    (void)state;
    freed++;
    return MPI_SUCCESS;
}

static int is_cancelled(void *state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void) {
    MPI_Request copies[16];
    int few = sizeof copies / sizeof *copies;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Grequest_start(tells_nothing, is_freed, is_cancelled, NULL, &requests[i]));
    for (int i = 0; i < MANY; i++) {
        if (order[i] < few)
            copies[order[i]] = requests[order[i]];
        else
            OK(MPI_Grequest_complete(requests[order[i]]));
    }
    for (int i = 0; i < few; i++)
        OK(MPI_Grequest_complete(copies[i]));
    complete();
    EQUAL(freed, MANY);
}

static void collectives(void) {
    for (int i = 0; i < MANY; i++) {
        received[i] = -1;
        sent[i] = rank * i;
        if (i % 2)
            OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]));
        else
            OK(MPI_Iallreduce(&sent[i], &received[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    }
    complete();
    for (int i = 0; i < MANY; i += 2)
        EQUAL(received[i], i * (size * (size - 1) / 2));
}

int main(int argc, char **argv) {
    Random random = {42};
    begin(&argc, &argv);
    EQUAL(size, 2);
    peer = 1 - rank;
    for (int i = 0; i < MANY; i++) {
        int j = next(&random, i + 1);
        order[i] = order[j];
        order[j] = i;
        requests[i] = MPI_REQUEST_NULL;
    }
    for (int kind = 0; kind < 4; kind++)
        messages(kind / 2, kind % 2);
    persistent();
    generalized();
    collectives();
    return end();
}
