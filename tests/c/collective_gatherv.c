/* Gatherv and Scatterv: blocks of different lengths at any place, in every lifetime and width.
   MPI-5.0: Collective Communication, Gather and Scatter. */
#include "lifetimes.h"
#include <stdint.h>

enum { SCALE = 700, MOST = 8, ALL = (MOST + 1) * MOST * SCALE };

static int mine[MOST * SCALE], all[ALL], root;
static int counts[MOST], displacements[MOST];
static MPI_Count large_counts[MOST];
static MPI_Aint large_displacements[MOST];

/* Rank 1 has nothing, and where that lies is no matter; the blocks lie in reversed order with gaps between them. */
static void lay_out(void) {
    for (int r = 0; r < size; r++) {
        counts[r] = r == 1 ? 0 : (r + 1) * SCALE - 3;
        displacements[r] = (size - 1 - r) * (MOST + 1) * SCALE;
        large_counts[r] = counts[r];
        large_displacements[r] = counts[r] == 0 ? PTRDIFF_MAX - 1 : displacements[r];
    }
}

static void fill(int round) {
    memset(all, 255, sizeof all);
    for (int i = 0; i < counts[rank]; i++)
        mine[i] = 100000 * rank + i + round;
}

static void check_gathered(int round) {
    for (int r = 0; rank == root && r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(all[displacements[r] + i], 100000 * r + i + round);
        EQUAL(all[displacements[r] + counts[r]], -1);
    }
}

static void fill_whole(int round) {
    memset(mine, 255, sizeof mine);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            all[displacements[r] + i] = rank == root ? 100000 * r + i + round : -1;
}

static void check_scattered(int round) {
    for (int i = 0; i < counts[rank]; i++)
        EQUAL(mine[i], 100000 * rank + i + round);
    EQUAL(mine[counts[rank]], -1);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    lay_out();
    for (root = 0; root < size; root++) {
        int count = counts[rank];
        IN_THREE_LIFETIMES(fill, check_gathered, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, mine, count, MPI_INT,
            all, counts, displacements, MPI_INT, root, MPI_COMM_WORLD);
        IN_THREE_LIFETIMES(fill, check_gathered, MPI_Gatherv_c, MPI_Igatherv_c, MPI_Gatherv_init_c, mine, count,
            MPI_INT, all, large_counts, large_displacements, MPI_INT, root, MPI_COMM_WORLD);
        IN_THREE_LIFETIMES(fill_whole, check_scattered, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, all, counts,
            displacements, MPI_INT, mine, count, MPI_INT, root, MPI_COMM_WORLD);
        IN_THREE_LIFETIMES(fill_whole, check_scattered, MPI_Scatterv_c, MPI_Iscatterv_c, MPI_Scatterv_init_c, all,
            large_counts, large_displacements, MPI_INT, mine, count, MPI_INT, root, MPI_COMM_WORLD);
    }
    return end();
}
