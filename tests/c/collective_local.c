/* Nonblocking calls and MPI_Start are local: one rank makes them all before the others make the first. Completion
   of what needs the others comes only after that.
   MPI-5.0: Collective Communication, Nonblocking and Persistent Collective Operations. */
#include "sorts.h"

enum { LONG = 20000 };

/* Whether a rank cannot be done without those that come late. */
static int needs_all(const Collective *it) {
    if (it->sort == EXSCAN || it->sort == SCAN)
        return it->me > 0;
    if (is_from_root(it->sort))
        return !it->is_root && !it->is_beside_root;
    return it->is_root || !is_to_root(it->sort);
}

static void one_comes_first(MPI_Comm comm, int first, int count, int root) {
    Collective all[2 * SORTS];
    MPI_Request requests[2 * SORTS];
    for (int k = 0; k < 2 * SORTS; k++) {
        all[k] = collective(comm, k % SORTS, k % SORTS == BARRIER ? 1 : count, root);
        fill(&all[k], k);
        if (k >= SORTS)
            call(&all[k], PERSISTENT, &requests[k]);
    }
    if (rank != first)
        hold(first);
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
        hold(first);
    OK(MPI_Waitall(2 * SORTS, requests, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 2 * SORTS; k++) {
        verify(&all[k], k);
        if (k >= SORTS)
            OK(MPI_Request_free(&requests[k]));
        discard(&all[k]);
    }
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int k = 0; k < made; k++) {
        for (int root = 0; root < size; root++) {
            one_comes_first(comms[k], 0, 3, root);
            one_comes_first(comms[k], size - 1, 3, root);
        }
        one_comes_first(comms[k], 0, LONG, size - 1);
        one_comes_first(comms[k], size - 1, LONG, 0);
    }
    free_comms(comms, made);
    return end();
}
