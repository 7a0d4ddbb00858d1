/* Gather to every root, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, Gather. */
#include "lifetimes.h"

enum { LONGEST = 20000, MOST = 8 };

static int mine[LONGEST], all[MOST * LONGEST], count, root;

static void fill(int round) {
    memset(all, 255, sizeof *all * (size_t)(count * size));
    for (int i = 0; i < count; i++)
        mine[i] = 100000 * rank + i + round;
}

static void fill_in_place(int round) {
    fill(round);
    if (rank == root)
        memcpy(all + rank * count, mine, sizeof *mine * (size_t)count);
}

static void check(int round) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            EQUAL(all[r * count + i], rank == root ? 100000 * r + i + round : -1);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 5, 700, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 5; k++)
        for (root = 0; root < size; root += k < 3 ? 1 : size) {
            count = counts[k];
            IN_EVERY_LIFETIME(fill, check, MPI_Gather, MPI_Igather, mine, count, MPI_INT, all, count, MPI_INT,
                root, MPI_COMM_WORLD);
            IN_EVERY_LIFETIME(fill_in_place, check, MPI_Gather, MPI_Igather,
                rank == root ? MPI_IN_PLACE : (void *)mine, count, MPI_INT, all, count, MPI_INT, root,
                MPI_COMM_WORLD);
        }
    return end();
}
