/* Allgatherv: blocks of different lengths at any place, in every lifetime and width.
   MPI-5.0: Collective Communication, Gather-to-all. */
#include "lifetimes.h"

enum { SCALE = 700, MOST = 8, ALL = (MOST + 1) * MOST * SCALE };

static int mine[MOST * SCALE], all[ALL];
static int counts[MOST], displacements[MOST];
static MPI_Count large_counts[MOST];
static MPI_Aint large_displacements[MOST];

static void lay_out(void) {
    for (int r = 0; r < size; r++) {
        counts[r] = r == 1 ? 0 : (r + 1) * SCALE - 3;
        displacements[r] = (size - 1 - r) * (MOST + 1) * SCALE;
        large_counts[r] = counts[r];
        large_displacements[r] = displacements[r];
    }
}

static void fill(int round) {
    memset(all, 255, sizeof all);
    for (int i = 0; i < counts[rank]; i++)
        mine[i] = 100000 * rank + i + round;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(all + displacements[rank], mine, sizeof *mine * (size_t)counts[rank]);
}

static void check(int round) {
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++)
            EQUAL(all[displacements[r] + i], 100000 * r + i + round);
        EQUAL(all[displacements[r] + counts[r]], -1);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    lay_out();
    int count = counts[rank];
    IN_THREE_LIFETIMES(fill, check, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, mine, count, MPI_INT, all,
        counts, displacements, MPI_INT, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, check, MPI_Allgatherv_c, MPI_Iallgatherv_c, MPI_Allgatherv_init_c, mine, count, MPI_INT,
        all, large_counts, large_displacements, MPI_INT, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_in_place, check, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, MPI_IN_PLACE, 0,
        MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD);
    return end();
}
