/* A persistent operation may be freed without ever having been started, in any order; one that was started as soon
   as this rank has completed it, whatever the others are doing. Freeing is local. With completion, in every lifetime,
   the buffers are the caller's again.
   MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "sorts.h"

enum { COUNT = 3000 };

static Collective all[SORTS];
static MPI_Request requests[SORTS];

static void prepare(MPI_Comm comm, int root) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "oxmpi_tests", "a hint that nobody knows"));
    for (int sort = 0; sort < SORTS; sort++) {
        all[sort] = collective(comm, sort, COUNT, root);
        all[sort].info = info;
        call(&all[sort], PERSISTENT, &requests[sort]);
    }
    OK(MPI_Info_free(&info));
}

/* The order differs between ranks. */
static void free_all(void) {
    for (int k = 0; k < SORTS; k++) {
        int sort = (k * (rank % 2 ? 1 : SORTS - 1) + rank) % SORTS;
        OK(MPI_Request_free(&requests[sort]));
        CHECK(requests[sort] == MPI_REQUEST_NULL, "a freed request becomes null");
    }
}

static void never_started(MPI_Comm comm, int first) {
    prepare(comm, 0);
    if (rank == first)
        free_all();
    hold(first);
    if (rank != first)
        free_all();
    for (int sort = 0; sort < SORTS; sort++)
        discard(&all[sort]);
}

/* Everybody frees what he has completed, and uses the buffers for something else, while others may not be done. */
static void freed_at_once(MPI_Comm comm, int root) {
    for (int k = 0; k < SORTS * LIFETIMES; k++) {
        Collective it = collective(comm, k / LIFETIMES, COUNT, root);
        MPI_Request request = MPI_REQUEST_NULL;
        fill(&it, k);
        begin_one(&it, k % LIFETIMES, &request);
        complete_one(&request);
        verify(&it, k);
        memset(it.sent, 255, sizeof(int) * (size_t)(COUNT * it.peers));
        memset(it.received, 255, sizeof(int) * (size_t)(COUNT * it.peers));
        discard(&it);
    }
}

/* The requests outlive the handle of their communicator. */
static void after_their_communicator(MPI_Comm original) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(original, &comm));
    prepare(comm, size - 1);
    OK(MPI_Comm_free(&comm));
    for (int round = 0; round < 3; round++) {
        for (int sort = 0; sort < SORTS; sort++)
            fill(&all[sort], round);
        OK(MPI_Startall(SORTS, requests));
        OK(MPI_Waitall(SORTS, requests, MPI_STATUSES_IGNORE));
        for (int sort = 0; sort < SORTS; sort++)
            verify(&all[sort], round);
    }
    free_all();
    for (int sort = 0; sort < SORTS; sort++)
        discard(&all[sort]);
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int round = 0; round < 3 * made; round++) {
        never_started(comms[round % made], round % size);
        freed_at_once(comms[round % made], round % size);
        after_their_communicator(comms[round % made]);
    }
    free_comms(comms, made);
    return end();
}
