/* Split by colour, ordered by key and then by rank; MPI_UNDEFINED leaves a rank out.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Constructors. */
#include "hosts.h"

/* Everybody's rank of the old communicator, in the order of the new one. */
static int members(MPI_Comm comm, int *ranks) {
    int count;
    OK(MPI_Comm_size(comm, &count));
    OK(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, comm));
    return count;
}

static void check_reversed_halves(void) {
    MPI_Comm half;
    int ranks[64], mine;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    int count = members(half, ranks);
    EQUAL(count, (size + 1 - rank % 2) / 2);
    for (int i = 0; i + 1 < count; i++)
        EQUAL(ranks[i], ranks[i + 1] + 2);
    OK(MPI_Comm_rank(half, &mine));
    EQUAL(ranks[mine], rank);
    OK(MPI_Comm_free(&half));
}

static void check_equal_keys(void) {
    MPI_Comm same;
    int result;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 3, 7, &same));
    OK(MPI_Comm_compare(same, MPI_COMM_WORLD, &result));
    EQUAL(result, MPI_CONGRUENT);
    OK(MPI_Comm_free(&same));
}

static void check_undefined(void) {
    MPI_Comm others;
    int ranks[64];
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == size - 1 ? MPI_UNDEFINED : 2147483647, rank, &others));
    CHECK((others == MPI_COMM_NULL) == (rank == size - 1), "only the last rank is left out");
    if (others != MPI_COMM_NULL) {
        EQUAL(members(others, ranks), size - 1);
        OK(MPI_Comm_free(&others));
    }
}

/* Every node here is one: all ranks share memory. */
static void check_shared(void) {
    MPI_Comm node;
    int count, after, here = on_this_host(&after);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, size - rank, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &count));
    EQUAL(count, here);
    OK(MPI_Comm_rank(node, &count));
    EQUAL(count, after);
    OK(MPI_Comm_free(&node));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        check_reversed_halves();
        check_equal_keys();
        check_undefined();
    }
    check_shared();
    return end();
}
