/* Nonblocking calls and MPI_Start are local: one rank makes them all before the others make the first. Completion
   of what needs the others comes only after that.
   MPI-5.0: Collective Communication, Nonblocking and Persistent Collective Operations. */
#include "sorts.h"

enum { LONG = 30000 };

/* Whether a rank cannot be done without those that come late. */
static int needs_all(const Collective *it) {
    switch (it->sort) {
    case BCAST:
    case SCATTER:
    case SCATTERV:
        return it->me != it->root;
    case GATHER:
    case GATHERV:
    case REDUCE:
        return it->me == it->root;
    default:
        return 1;
    }
}

static void one_comes_first(int first, int count, int root) {
    Collective all[2 * SORTS];
    MPI_Request requests[2 * SORTS];
    for (int k = 0; k < 2 * SORTS; k++) {
        all[k] = collective(MPI_COMM_WORLD, k % SORTS, k % SORTS == BARRIER ? 1 : count, root);
        fill(&all[k], k);
        if (k >= SORTS)
            call(&all[k], PERSISTENT, &requests[k]);
    }
    if (rank != first)
        hold(first, MPI_COMM_WORLD);
    for (int k = 0; k < SORTS; k++)
        call(&all[k], NONBLOCKING, &requests[k]);
    for (int k = SORTS; k < 2 * SORTS; k++)
        OK(MPI_Start(&requests[k]));
    for (int k = 0; rank == first && size > 1 && k < 2 * SORTS; k++) {
        int done;
        OK(MPI_Request_get_status(requests[k], &done, MPI_STATUS_IGNORE));
        CHECK(!done || !needs_all(&all[k]), "operation %d is complete and nobody else has called it", k);
    }
    if (rank == first)
        hold(first, MPI_COMM_WORLD);
    OK(MPI_Waitall(2 * SORTS, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 2 * SORTS; k++) {
        verify(&all[k], k);
        if (k >= SORTS)
            OK(MPI_Request_free(&requests[k]));
        discard(&all[k]);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int root = 0; root < size; root++) {
        one_comes_first(0, 3, root);
        one_comes_first(size - 1, 3, root);
    }
    one_comes_first(0, LONG, size - 1);
    one_comes_first(size - 1, LONG, 0);
    return end();
}
