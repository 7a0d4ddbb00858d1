/* Identical, congruent, similar and unequal communicators and groups.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Accessors. */
#include "check.h"

static int compare(MPI_Comm one, MPI_Comm other) {
    int result;
    OK(MPI_Comm_compare(one, other, &result));
    return result;
}

int main(int argc, char **argv) {
    MPI_Comm copy, reversed;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    EQUAL(compare(MPI_COMM_WORLD, MPI_COMM_WORLD), MPI_IDENT);
    EQUAL(compare(copy, copy), MPI_IDENT);
    EQUAL(compare(MPI_COMM_WORLD, copy), MPI_CONGRUENT);
    EQUAL(compare(copy, reversed), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    EQUAL(compare(MPI_COMM_SELF, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&reversed));
    return end();
}
