/* Initialisations of persistent operations stand in the one order of a communicator's collectives, with blocking and
   nonblocking ones between them that are still under way; an initialisation that waits for the others lets
   what was begun before go on. MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "sorts.h"

enum { COUNT = 2000 };

/* Every collective has its turn with each. */
static int lifetime_of(int k) {
    return k % 7 == 3 ? BLOCKING : (k + k / SORTS) % 2 ? PERSISTENT : NONBLOCKING;
}

static void between_others(MPI_Comm comm) {
    Collective all[3 * SORTS];
    MPI_Request requests[3 * SORTS];
    for (int k = 0; k < 3 * SORTS; k++) {
        requests[k] = MPI_REQUEST_NULL;
        all[k] = collective(comm, (5 * k) % SORTS, k % 4 ? 7 : COUNT, k % size);
        fill(&all[k], k);
        call(&all[k], lifetime_of(k), &requests[k]);
    }
    for (int k = 0; k < 3 * SORTS; k++) {
        int i = rank % 2 ? k : 3 * SORTS - 1 - k;
        if (lifetime_of(i) == PERSISTENT)
            OK(MPI_Start(&requests[i]));
    }
    OK(MPI_Waitall(3 * SORTS, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 3 * SORTS; k++) {
        verify(&all[k], k);
        if (requests[k] != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&requests[k]));
        discard(&all[k]);
    }
}

/* The last rank comes to the initialisation when it has completed what the others have only begun. */
static void lets_others_go_on(MPI_Comm comm, int sort, int count) {
    Collective before = collective(comm, sort, count, 0);
    Collective after = collective(comm, sort, count, 0);
    MPI_Request pending, prepared;
    fill(&before, sort);
    fill(&after, 1 + sort);
    call(&before, NONBLOCKING, &pending);
    if (rank == size - 1)
        OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    call(&after, PERSISTENT, &prepared);
    OK(MPI_Start(&prepared));
    OK(MPI_Wait(&prepared, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    verify(&before, sort);
    verify(&after, 1 + sort);
    OK(MPI_Request_free(&prepared));
    discard(&before);
    discard(&after);
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int round = 0; round < 4; round++)
        for (int k = 0; k < made; k++)
            between_others(comms[k]);
    for (int sort = 0; sort < SORTS; sort++)
        for (int k = 0; k < made; k++) {
            lets_others_go_on(comms[k], sort, 1);
            lets_others_go_on(comms[k], sort, 50000);
        }
    free_comms(comms, made);
    return end();
}
