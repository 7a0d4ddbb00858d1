/* A thousand communicators at a time, with messages and a collective under way on all of them.
   MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management. */
#include "check.h"

enum { COMMS = 1000, ROUNDS = 2 };

static MPI_Comm comms[COMMS];
static MPI_Request requests[3 * COMMS];
static int sent[COMMS], received[COMMS], mine[COMMS], sums[COMMS];

/* Alternately of all, and of all in another order. */
static void make(int i) {
    if (i % 2)
        OK(MPI_Comm_split(i < 10 ? MPI_COMM_WORLD : comms[i - 10], 0, -rank, &comms[i]));
    else
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
}

static void talk(int round) {
    for (int i = 0; i < COMMS; i++) {
        int me, right, left;
        OK(MPI_Comm_rank(comms[i], &me));
        right = (me + 1) % size, left = (me + size - 1) % size;
        sent[i] = 1000000 * round + 1000 * me + i;
        mine[i] = me * i;
        OK(MPI_Irecv(&received[i], 1, MPI_INT, i % 3 ? left : MPI_ANY_SOURCE, 1, comms[i], &requests[3 * i]));
        OK(MPI_Isend(&sent[i], 1, MPI_INT, right, 1, comms[i], &requests[3 * i + 1]));
        OK(MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, comms[i], &requests[3 * i + 2]));
    }
    OK(MPI_Waitall(3 * COMMS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMS; i++) {
        int me;
        OK(MPI_Comm_rank(comms[i], &me));
        EQUAL(received[i], 1000000 * round + 1000 * ((me + size - 1) % size) + i);
        EQUAL(sums[i], size * (size - 1) / 2 * i);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < COMMS; i++)
        make(i);
    for (int round = 0; round < ROUNDS; round++)
        talk(round);
    /* Half of them anew, among the others. */
    for (int i = 0; i < COMMS; i += 2)
        OK(MPI_Comm_free(&comms[i]));
    for (int i = 0; i < COMMS; i += 2)
        make(i);
    talk(ROUNDS);
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return end();
}
