/* Scatter from every root, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, Scatter. */
#include "lifetimes.h"

enum { LONGEST = 20000, MOST = 8 };

static int mine[LONGEST + 1], all[MOST * LONGEST], count, root;

static void fill(int round) {
    for (int i = 0; i < count * size; i++)
        all[i] = rank == root ? 7 * i + round : -1;
    memset(mine, 255, sizeof mine);
}

static void check(int round) {
    for (int i = 0; i < count; i++)
        EQUAL(mine[i], 7 * (rank * count + i) + round);
    EQUAL(mine[count], -1);
}

static void check_in_place(int round) {
    if (rank != root)
        check(round);
    else
        EQUAL(mine[0], -1);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 5, 700, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 5; k++)
        for (root = 0; root < size; root += k < 3 ? 1 : size) {
            count = counts[k];
            IN_EVERY_LIFETIME(fill, check, MPI_Scatter, MPI_Iscatter, all, count, MPI_INT, mine, count, MPI_INT,
                root, MPI_COMM_WORLD);
            IN_EVERY_LIFETIME(fill, check_in_place, MPI_Scatter, MPI_Iscatter, all, count, MPI_INT,
                rank == root ? MPI_IN_PLACE : (void *)mine, count, MPI_INT, root, MPI_COMM_WORLD);
        }
    return end();
}
