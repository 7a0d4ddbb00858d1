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

/* Neighbours that pass other lengths: some of them go by messages then, and others by lines. Who passes none has nothing
   to wait for, and need not notice. */
static void unlike_neighbors(void) {
    int one = 1, lengths[3] = {LONG, 8, 0}, mine = lengths[rank % 3], code, sum = 0;
    MPI_Comm ring;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &one, 0, &ring));
    code = MPI_Neighbor_alltoall(out, mine, MPI_CHAR, in, mine, MPI_CHAR, ring);
    CHECK(code != MPI_SUCCESS || mine == 0, "rank %d passes %d bytes", rank, mine);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&ring));
}

/* A rank whose initialization fails does not keep the others from their starts, be it that they send it something or
   wait for something that it would have sent back. */
static void unlike_at_initialization(int back) {
    int sent[64] = {0}, received[64] = {0}, places[64] = {0}, code, sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (rank == 0)
        sent[1] = 8, received[1] = back;
    if (rank == 1)
        received[0] = 4, sent[0] = back;
    code = MPI_Alltoallv_init(out, sent, places, MPI_CHAR, in, received, places, MPI_CHAR, comm, MPI_INFO_NULL, &request);
    if (rank == 1) {
        CHECK(code != MPI_SUCCESS && class_of(code) == MPI_ERR_TRUNCATE, "'%s'", text_of(code));
        EQUAL(request, MPI_REQUEST_NULL);
    } else {
        OK(code);
        /* What goes by messages fails where it is sent, each time; a line is posted for nobody. */
        for (int run = 0; run < 1000; run++) {
            OK(MPI_Start(&request));
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(code == MPI_SUCCESS || (rank == 0 && class_of(code) == MPI_ERR_TRUNCATE), "'%s'", text_of(code));
            if (code != MPI_SUCCESS)
                break;
        }
        OK(MPI_Request_free(&request));
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    unexpected_block(20000);
    unexpected_block(LONG);
    if (size % 3 == 0)
        unlike_neighbors();
    unlike_at_initialization(0);
    unlike_at_initialization(8);
    return end();
}
