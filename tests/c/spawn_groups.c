/* Groups of the processes of several jobs mean the same to all of them: communicators are made of disjoint ones in one
   call, and of one that all name. MPI-5.0: Groups, Contexts, Communicators, Communicator Constructors. */
#include "check.h"

enum { CHILDREN = 3 };

/* A communicator of these members of `merged`, of whom this process is the one with the rank `mine`. */
static void check(MPI_Comm merged, MPI_Group group, int members, int mine) {
    MPI_Comm made;
    int found, sum = 1;
    OK(MPI_Comm_create(merged, group, &made));
    CHECK((made != MPI_COMM_NULL) == (mine != MPI_UNDEFINED), "members alone get a communicator");
    OK(MPI_Group_free(&group));
    if (made == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_size(made, &found));
    EQUAL(found, members);
    OK(MPI_Comm_rank(made, &found));
    EQUAL(found, mine);
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, made));
    EQUAL(sum, members);
    OK(MPI_Comm_free(&made));
}

int main(int argc, char **argv) {
    MPI_Comm between, merged;
    MPI_Group all, group;
    begin(&argc, &argv);
    OK(MPI_Comm_get_parent(&between));
    int is_child = between != MPI_COMM_NULL, parents = size;
    if (is_child)
        OK(MPI_Comm_remote_size(between, &parents));
    else
        OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                          MPI_ERRCODES_IGNORE));
    OK(MPI_Intercomm_merge(between, is_child, &merged));
    OK(MPI_Comm_group(merged, &all));

    OK(MPI_Comm_group(between, &group));
    check(merged, group, size, rank);
    OK(MPI_Group_incl(all, 2, (int[]){parents + 1, parents - 1}, &group));
    check(merged, group, 2, is_child && rank == 1 ? 0 : !is_child && rank == size - 1 ? 1 : MPI_UNDEFINED);
    OK(MPI_Group_excl(all, 1, (int[]){0}, &group));
    int mine = is_child ? parents + rank : rank;
    check(merged, group, parents + CHILDREN - 1, mine == 0 ? MPI_UNDEFINED : mine - 1);

    OK(MPI_Group_free(&all));
    OK(MPI_Comm_disconnect(&merged));
    OK(MPI_Comm_disconnect(&between));
    if (!is_child)
        return end();
    MPI_Finalize();
    return 0;
}
