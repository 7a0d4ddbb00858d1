/* Communicators of very many ranks, whose rings are so small that what the members tell each other does not fit into
   one message, and is not copied at once.
   MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_CREATE_FROM_GROUP, MPI_INTERCOMM_CREATE. */
#include "check.h"

static void check(MPI_Comm comm) {
    int sum;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    char tag[MPI_MAX_STRINGTAG_LEN];
    MPI_Group world;
    MPI_Comm made, half, inter;
    int remotes;
    begin(&argc, &argv);
    memset(tag, 't', sizeof tag - 1);
    tag[sizeof tag - 1] = '\0';
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    check(made);
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &made));
    check(made);
    OK(MPI_Group_free(&world));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter));
    OK(MPI_Comm_remote_size(inter, &remotes));
    EQUAL(remotes, (size + rank % 2) / 2);
    OK(MPI_Intercomm_merge(inter, rank % 2, &made));
    check(made);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return end();
}
