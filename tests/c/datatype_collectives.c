/* Vectors in collectives, on either side, in every lifetime; types with gaps keep what lies in the gaps.
   MPI-5.0: Collective Communication; Datatypes, Derived Datatypes. */
#include "lifetimes.h"

enum { COUNT = 50, SPAN = 2 * COUNT - 1, MOST = 8 };

static int strided[MOST][SPAN], dense[MOST][COUNT], result[SPAN];

static void fill(int round) {
    memset(strided, 255, sizeof strided);
    memset(result, 255, sizeof result);
    for (int r = 0; r < MOST; r++)
        for (int i = 0; i < COUNT; i++)
            dense[r][i] = 10000 * rank + 1000 * r + i + round;
}

static void check_gathered(int round) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < COUNT; i++) {
            EQUAL(strided[r][2 * i], 10000 * r + i + round);
            CHECK(i == COUNT - 1 || strided[r][2 * i + 1] == -1, "a gap was written");
        }
}

static void check_transposed(int round) {
    for (int r = 0; r < size; r++)
        for (int i = 0; i < COUNT; i++) {
            EQUAL(strided[r][2 * i], 10000 * r + 1000 * rank + i + round);
            CHECK(i == COUNT - 1 || strided[r][2 * i + 1] == -1, "a gap was written");
        }
}

static void check_last(int round) {
    for (int i = 0; i < COUNT; i++) {
        EQUAL(result[2 * i], 10000 * (size - 1) + i + round);
        CHECK(i == COUNT - 1 || result[2 * i + 1] == -1, "a gap was written");
    }
}

static void fill_strided(int round) {
    fill(round);
    for (int i = 0; i < COUNT; i++) {
        strided[0][2 * i] = 10000 * rank + i + round;
        if (rank == size - 1)
            result[2 * i] = strided[0][2 * i];
    }
}

int main(int argc, char **argv) {
    MPI_Datatype every_other;
    begin(&argc, &argv);
    OK(MPI_Type_vector(COUNT, 1, 2, MPI_INT, &every_other));
    OK(MPI_Type_commit(&every_other));
    IN_EVERY_LIFETIME(fill, check_gathered, MPI_Allgather, MPI_Iallgather, dense, COUNT, MPI_INT, strided, 1,
        every_other, MPI_COMM_WORLD);
    IN_EVERY_LIFETIME(fill, check_transposed, MPI_Alltoall, MPI_Ialltoall, dense, COUNT, MPI_INT, strided, 1,
        every_other, MPI_COMM_WORLD);
    IN_EVERY_LIFETIME(fill_strided, check_last, MPI_Bcast, MPI_Ibcast, result, 1, every_other, size - 1,
        MPI_COMM_WORLD);
    OK(MPI_Type_free(&every_other));
    return end();
}
