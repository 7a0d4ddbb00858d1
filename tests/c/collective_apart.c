/* Messages and collectives of one communicator are not confused: receives and probes of any source and any tag that
   are posted before, and any number of messages that nobody has received yet, see none of them. Persistent operations
   match no others, whatever is begun between. MPI-5.0: Collective Communication, Introduction, Persistent Collective
   Operations. */
#include "sorts.h"

enum { LONG = 9000, WAITING = 4 };

static MPI_Comm comm;

static void nothing_has_come(MPI_Request *receives) {
    int flag = 1, index;
    MPI_Message message;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "no message was sent");
    OK(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, MPI_STATUS_IGNORE));
    CHECK(!flag, "no message was sent");
    OK(MPI_Testany(WAITING, receives, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "no message was sent");
}

static void run(int sort, int lifetime, int count, int root) {
    Collective it = collective(comm, sort, count, root);
    MPI_Request request = MPI_REQUEST_NULL;
    fill(&it, root);
    begin_one(&it, lifetime, &request);
    complete_one(&request);
    verify(&it, root);
    discard(&it);
}

static void run_all(int count) {
    for (int sort = 0; sort < SORTS; sort++)
        for (int lifetime = 0; lifetime < LIFETIMES; lifetime++)
            for (int root = 0; root < size; root += count > 1 ? size : 1)
                run(sort, lifetime, count, root);
}

/* Receives of anything are posted before the collectives and get what is sent behind them. */
static void receives_wait(int count) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request receives[WAITING];
    int got[WAITING];
    for (int k = 0; k < WAITING; k++)
        OK(MPI_Irecv(&got[k], 1, MPI_INT, k % 2 ? MPI_ANY_SOURCE : left, MPI_ANY_TAG, comm, &receives[k]));
    run_all(count);
    nothing_has_come(receives);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int k = 0; k < WAITING; k++)
        OK(MPI_Send(&(int){100 * rank + k}, 1, MPI_INT, right, k, comm));
    OK(MPI_Waitall(WAITING, receives, MPI_STATUSES_IGNORE));
    for (int k = 0; k < WAITING; k++)
        EQUAL(got[k], 100 * left + k);
}

/* Messages of every tag are sent before the collectives and received behind them. */
static void messages_wait(int count) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, tags[] = {0, 1, 4711, 32767}, got;
    MPI_Request sends[WAITING];
    int sent[WAITING];
    for (int k = 0; k < WAITING; k++) {
        sent[k] = 10 * rank + k;
        OK(MPI_Isend(&sent[k], 1, MPI_INT, right, tags[k], comm, &sends[k]));
    }
    run_all(count);
    for (int k = WAITING - 1; k >= 0; k--) {
        OK(MPI_Recv(&got, 1, MPI_INT, left, tags[k], comm, MPI_STATUS_IGNORE));
        EQUAL(got, 10 * left + k);
    }
    OK(MPI_Waitall(WAITING, sends, MPI_STATUSES_IGNORE));
}

/* A persistent operation is active while the same collective runs in the other lifetimes: begun before these on
   one half of the ranks, behind them on the other. */
static void lifetimes_do_not_match(int sort, int count) {
    Collective kept = collective(comm, sort, count, 0);
    MPI_Request request;
    call(&kept, PERSISTENT, &request);
    for (int round = 0; round < 4; round++) {
        fill(&kept, 100 + round);
        if ((rank + round) % 2)
            OK(MPI_Start(&request));
        run(sort, NONBLOCKING, count, size - 1);
        run(sort, BLOCKING, count, 0);
        if ((rank + round) % 2 == 0)
            OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        verify(&kept, 100 + round);
    }
    OK(MPI_Request_free(&request));
    discard(&kept);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    comm = ring_of(MPI_COMM_WORLD);
    for (int k = 0; k < 3; k++) {
        int count = k == 0 ? 1 : k == 1 ? 700 : LONG;
        receives_wait(count);
        messages_wait(count);
        for (int sort = 0; sort < SORTS; sort++)
            lifetimes_do_not_match(sort, count);
    }
    OK(MPI_Comm_free(&comm));
    return end();
}
