/* Communicators of groups.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Constructors. */
#include "check.h"

static void check(MPI_Comm comm, int is_member, int first) {
    int mine, count, value;
    CHECK((comm != MPI_COMM_NULL) == is_member, "members alone get a communicator");
    if (!is_member)
        return;
    OK(MPI_Comm_rank(comm, &mine));
    OK(MPI_Comm_size(comm, &count));
    value = mine == 0 ? rank : -1;
    OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
    EQUAL(value, first);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    MPI_Group world, odd;
    MPI_Comm comm = MPI_COMM_NULL;
    int ranks[64], count = 0;
    begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int other = size - 1; other >= 0; other--)
        if (other % 2 || size == 1)
            ranks[count++] = other;
    int is_member = rank % 2 || size == 1;
    OK(MPI_Group_incl(world, count, ranks, &odd));
    OK(MPI_Comm_create(MPI_COMM_WORLD, odd, &comm));
    check(comm, is_member, ranks[0]);
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL, "nobody is in the empty group");
    OK(MPI_Group_free(&odd));
    OK(MPI_Group_free(&world));
    return end();
}
