/* Rounds of collectives and messages, in which others sleep and are woken: a rank may fail in any of them. In every
   second round others read its memory where it is. */
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 60, LONG = 50000 };

static int own[LONG], in[LONG];

int main(int argc, char **argv) {
    int *out, *lent;
    begin(&argc, &argv);
    OK(MPI_Alloc_mem(sizeof own, MPI_INFO_NULL, &lent));
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < ROUNDS; round++) {
        int lengths[] = {1, LONG}, root = round % size;
        out = round % 2 ? lent : own;
        for (int which = 0; which < 2; which++) {
            int count = lengths[which];
            for (int i = 0; i < count; i++)
                out[i] = rank + i + round;
            OK(MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            for (int i = 0; i < count; i++)
                EQUAL(in[i], size * (size - 1) / 2 + size * (i + round));
            if (rank == root && which == 0)
                usleep(10000);
            OK(MPI_Bcast(rank == root ? out : in, count, MPI_INT, root, MPI_COMM_WORLD));
            EQUAL((rank == root ? out : in)[count - 1], root + count - 1 + round);
            OK(MPI_Sendrecv(out, count, MPI_INT, right, 1, in, count, MPI_INT, left, 1, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE));
            EQUAL(in[count - 1], left + count - 1 + round);
        }
    }
    OK(MPI_Free_mem(lent));
    return end();
}
