/* Alltoall of counts from none to many, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, All-to-All Scatter/Gather. */
#include "lifetimes.h"

enum { LONGEST = 20000, MOST = 8 };

static int sent[MOST * LONGEST], received[MOST * LONGEST], count;

static void fill(int round) {
    memset(received, 255, sizeof *received * (size_t)(count * size));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            sent[r * count + i] = 10000000 * rank + 1000000 * r + i + round;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(received, sent, sizeof *sent * (size_t)(count * size));
}

static void check(int round) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++)
            EQUAL(received[r * count + i], 10000000 * r + 1000000 * rank + i + round);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 3, 100, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 5; k++) {
        count = counts[k];
        IN_EVERY_LIFETIME(fill, check, MPI_Alltoall, MPI_Ialltoall, sent, count, MPI_INT, received, count, MPI_INT,
            MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_in_place, check, MPI_Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
            received, count, MPI_INT, MPI_COMM_WORLD);
    }
    return end();
}
