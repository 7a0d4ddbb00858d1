/* Reduce to every root, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, Reduce. */
#include "lifetimes.h"

enum { LONGEST = 40000 };

static double mine[LONGEST], result[LONGEST + 1];
static int count, root;

static double value(int r, int i, int round) {
    return (i + 3 * r + round) % 1000;
}

static void fill(int round) {
    for (int i = 0; i < count; i++) {
        mine[i] = value(rank, i, round);
        result[i] = -1;
    }
    result[count] = 12345;
}

static void fill_in_place(int round) {
    fill(round);
    if (rank == root)
        memcpy(result, mine, sizeof *mine * (size_t)count);
}

static void check(int round) {
    EQUAL(result[count], 12345);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, i, round);
        EQUAL(result[i], rank == root ? sum : -1);
    }
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 3, 8, 1001, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 6; k++)
        for (root = 0; root < size; root += k < 4 ? 1 : size) {
            count = counts[k];
            IN_EVERY_LIFETIME(fill, check, MPI_Reduce, MPI_Ireduce, mine, result, count, MPI_DOUBLE, MPI_SUM, root,
                MPI_COMM_WORLD);
            IN_EVERY_LIFETIME(fill_in_place, check, MPI_Reduce, MPI_Ireduce,
                rank == root ? MPI_IN_PLACE : (void *)mine, result, count, MPI_DOUBLE, MPI_SUM, root,
                MPI_COMM_WORLD);
        }
    return end();
}
