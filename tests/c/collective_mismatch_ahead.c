/* A rank that only writes runs ahead of others, which call something else meanwhile: they get errors, and nobody hangs,
   also where it is further ahead than what was called is remembered.
   MPI-5.0: Collective Communication, Correctness. */
#include "check.h"

enum { ROUNDS = 40 };

int main(int argc, char **argv) {
    static int from[64], into[64], counts[64], places[64];
    begin(&argc, &argv);
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int r = 0; r < size; r++)
        counts[r] = 1, places[r] = r;
    int errors = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int code = rank == 0 ? MPI_Bcast(into, 1, MPI_INT, 0, comm)
                             : MPI_Alltoallv(from, counts, places, MPI_INT, into, counts, places, MPI_INT, comm);
        errors += code != MPI_SUCCESS;
    }
    errors += MPI_Barrier(comm) != MPI_SUCCESS; /* where who only wrote hears of it */
    CHECK(errors > 0, "%d errors", errors);
    return end();
}
