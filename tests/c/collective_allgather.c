/* Allgather of counts from none to many, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, Gather-to-all. */
#include "lifetimes.h"

enum { LONGEST = 30000, MOST = 8 };

static int mine[LONGEST], all[MOST * LONGEST], count;

static void fill(int round) {
    memset(all, 255, sizeof *all * (size_t)(count * size));
    for (int i = 0; i < count; i++)
        mine[i] = 100000 * rank + i + round;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(all + rank * count, mine, sizeof *mine * (size_t)count);
}

static void check(int round) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            EQUAL(all[r * count + i], 100000 * r + i + round);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 2, 16, 900, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 6; k++) {
        count = counts[k];
        IN_EVERY_LIFETIME(fill, check, MPI_Allgather, MPI_Iallgather, mine, count, MPI_INT, all, count, MPI_INT,
            MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_in_place, check, MPI_Allgather, MPI_Iallgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
            all, count, MPI_INT, MPI_COMM_WORLD);
    }
    return end();
}
