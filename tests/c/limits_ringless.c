/* Ranks of several hosts that have no shared memory left talk for the first time: messages of all lengths arrive, into
   memory with gaps, too. MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "exhaust.h"

enum { WORDS = 1 << 18 };

static int from[2 * WORDS], into[2 * WORDS];

/* Every other word, or each. */
static void exchange(int peer, int words, int stride) {
    MPI_Datatype type;
    OK(MPI_Type_vector(words, 1, stride, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < words * stride; i++) {
        from[i] = rank * 7 + i;
        into[i] = -1;
    }
    OK(MPI_Sendrecv(from, 1, type, peer, 0, into, 1, type, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < words * stride; i++)
        EQUAL(into[i], i % stride == 0 ? peer * 7 + i : -1);
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    /* Who shares memory has a ring to the other one, by which they can leave together. */
    exchange(rank ^ 1, 2, 1);
    int operations = prepare();
    for (int step = 1; step < size; step++) {
        int peer = (step + size - rank) % size; /* of both */
        int words[] = {0, 2, 250, 4080, 4085, 4096, 25000, WORDS};
        for (int i = 0; i < (int)(sizeof words / sizeof *words) && peer / 2 != rank / 2; i++) {
            exchange(peer, words[i], 1);
            exchange(peer, words[i], 2);
        }
    }
    for (int i = 0; i < operations; i++)
        OK(MPI_Request_free(&requests[i]));
    return end();
}
