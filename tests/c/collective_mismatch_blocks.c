/* Blocks of which the sender and the receiver say different lengths: somebody gets an error, and nobody waits for ever.
   MPI-5.0: Collective Communication, Introduction and Overview. */
#include "check.h"

enum { LONG = 1 << 20 };

static char out[2 * LONG], in[2 * LONG];

/* Rank 1 expects nothing of rank 0, which sends it a block that waits to be received. */
static void unexpected_block(int bytes) {
    int counts[64] = {0}, places[64] = {0}, code, sum = 0;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    counts[1] = bytes;
    code = MPI_Scatterv(out, counts, places, MPI_CHAR, in, 0, MPI_CHAR, 0, comm);
    /* A network may have taken a shorter one, whose sender waits for nobody then. */
    if (rank == 0 && (bytes == LONG || code != MPI_SUCCESS))
        CHECK(class_of(code) == MPI_ERR_TRUNCATE && strstr(text_of(code), "expected none"), "%d bytes: '%s'", bytes,
              text_of(code));
    else
        EQUAL(code, MPI_SUCCESS);
    /* The communicator is as good as before. */
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    unexpected_block(20000);
    unexpected_block(LONG);
    return end();
}
