/* Broadcast from every root, of counts from none to many, in every lifetime.
   MPI-5.0: Collective Communication, Broadcast. */
#include "lifetimes.h"

enum { LONGEST = 100000 };

static int data[LONGEST + 1], count, root;

static void fill(int round) {
    for (int i = 0; i < count; i++)
        data[i] = rank == root ? 1000 * root + round + i : -1;
    data[count] = 12345;
}

static void check(int round) {
    for (int i = 0; i < count; i++)
        EQUAL(data[i], 1000 * root + round + i);
    EQUAL(data[count], 12345);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 2, 13, 1000, 20011, LONGEST};
    begin(&argc, &argv);
    for (int k = 0; k < 7; k++)
        for (root = 0; root < size; root += k < 5 ? 1 : size) {
            count = counts[k];
            IN_EVERY_LIFETIME(fill, check, MPI_Bcast, MPI_Ibcast, data, count, MPI_INT, root, MPI_COMM_WORLD);
        }
    return end();
}
