/* Disconnecting waits for what is under way on the communicator, and then frees it.
   MPI-5.0: The Dynamic Process Model, Releasing Connections; Disconnecting. */
#include "intercomm.h"

enum { LONG = 200000 };
static int sent[LONG], received[LONG];

static void fill(int *values, int first) {
    for (int i = 0; i < LONG; i++)
        values[i] = first + i;
}

static void check_received(int first) {
    for (int i = 0; i < LONG; i++)
        EQUAL(received[i], first + i);
}

static void disconnect(MPI_Comm *comm) {
    OK(MPI_Comm_disconnect(comm));
    CHECK(*comm == MPI_COMM_NULL, "a disconnected communicator becomes null");
}

/* Nobody can wait for these messages but by disconnecting. */
static void freed_requests(MPI_Comm *comm, int to, int from) {
    MPI_Request requests[2];
    fill(sent, rank);
    fill(received, -1);
    OK(MPI_Irecv(received, LONG, MPI_INT, from, 1, *comm, &requests[0]));
    OK(MPI_Isend(sent, LONG, MPI_INT, to, 1, *comm, &requests[1]));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    disconnect(comm);
    fill(sent, -2);
}

static void around_a_ring(void) {
    MPI_Comm comm;
    int left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    freed_requests(&comm, (rank + 1) % size, left);
    check_received(left);
}

/* Pairs of the two groups exchange messages; who has no partner has nothing to wait for. */
static void between_two_groups(void) {
    connect_groups();
    if (me < remotes) {
        freed_requests(&inter, me, me);
        check_received(world_rank(1 - side, me));
    } else {
        disconnect(&inter);
    }
    disconnect(&local);
}

/* Whatever had begun is over afterwards, and can be completed at once. */
static void collectives(void) {
    MPI_Comm comm;
    MPI_Request requests[2], inactive;
    int mine = rank, sum = -1, flag, largest = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    OK(MPI_Allreduce_init(&mine, &largest, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &inactive));
    OK(MPI_Start(&requests[1]));
    disconnect(&comm);
    EQUAL(sum, size * (size - 1) / 2);
    EQUAL(largest, size - 1);
    OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag, "disconnecting has waited for the collective operations");
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Request_free(&inactive));
}

/* What is under way on other communicators may need what comes later. */
static void other_communicators(void) {
    MPI_Comm comm;
    MPI_Request request;
    int value = -1, flag;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(&value, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, &request));
    disconnect(&comm);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "nobody has sent yet");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(value, (rank + size - 1) % size);
}

static int count_deletion(MPI_Comm comm, int keyval, void *value, void *extra_state) {
    (void)comm, (void)keyval, (void)value;
    ++*(int *)extra_state;
    return MPI_SUCCESS;
}

static void attributes_are_deleted(void) {
    MPI_Comm comm;
    int keyval, deleted = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deletion, &keyval, &deleted));
    OK(MPI_Comm_set_attr(comm, keyval, NULL));
    disconnect(&comm);
    EQUAL(deleted, 1);
    OK(MPI_Comm_free_keyval(&keyval));
}

static void what_cannot_be_disconnected(void) {
    MPI_Comm world = MPI_COMM_WORLD, myself = MPI_COMM_SELF, none = MPI_COMM_NULL, freed, copy;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &freed));
    copy = freed;
    disconnect(&freed);
    GIVES(MPI_ERR_COMM, MPI_Comm_disconnect(&world));
    GIVES(MPI_ERR_COMM, MPI_Comm_disconnect(&myself));
    GIVES(MPI_ERR_COMM, MPI_Comm_disconnect(&none));
    GIVES(MPI_ERR_COMM, MPI_Comm_disconnect(&copy));
    GIVES(MPI_ERR_ARG, MPI_Comm_disconnect(NULL));
    CHECK(world == MPI_COMM_WORLD && myself == MPI_COMM_SELF, "the handles are as they were");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 5; round++) {
        around_a_ring();
        if (size > 1)
            between_two_groups();
        collectives();
        other_communicators();
    }
    attributes_are_deleted();
    what_cannot_be_disconnected();
    return end();
}
