/* Allreduce of counts from none to many, with and without MPI_IN_PLACE, in every lifetime.
   MPI-5.0: Collective Communication, All-Reduce. */
#include "lifetimes.h"

enum { LONGEST = 80011 };

static double mine[LONGEST], result[LONGEST + 1];
static int count;

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
    memcpy(result, mine, sizeof *mine * (size_t)count);
}

static void check(int round) {
    EQUAL(result[count], 12345);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, i, round);
        EQUAL(result[i], sum);
    }
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 2, 3, 7, 8, 100, 1009, 8192, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 10; k++) {
        count = counts[k];
        IN_EVERY_LIFETIME(fill, check, MPI_Allreduce, MPI_Iallreduce, mine, result, count, MPI_DOUBLE, MPI_SUM,
            MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_in_place, check, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, result, count,
            MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return end();
}
