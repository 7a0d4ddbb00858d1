/* An intercommunicator of two groups of different sizes: one rank of three, and the others. */
#ifndef OXMPI_TESTS_INTERCOMM_H
#define OXMPI_TESTS_INTERCOMM_H

#include "check.h"

static MPI_Comm local, inter;
/* Which group this rank is in, the sizes of both, and its rank in its own. */
static int side, locals, remotes, me;

/* The group of a rank of the world. */
static inline int side_of(int world_rank) {
    return world_rank % 3 == 1;
}

/* The rank in the world of a member of a group. */
static inline int world_rank(int group, int member) {
    for (int r = 0;; r++)
        if (side_of(r) == group && member-- == 0)
            return r;
}

/* Needs two ranks. */
static inline void connect_groups(void) {
    side = side_of(rank);
    OK(MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local));
    OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, world_rank(1 - side, 0), 17, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(local, &locals));
    OK(MPI_Comm_rank(local, &me));
    remotes = size - locals;
}

static inline void disconnect_groups(void) {
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&local));
}

/* Messages between each two ranks of different groups arrive at an intercommunicator between these groups. */
static inline void check_connected(MPI_Comm comm, int own, int others) {
    int flag, found, token, from;
    OK(MPI_Comm_test_inter(comm, &flag));
    CHECK(flag, "it has two groups");
    OK(MPI_Comm_size(comm, &found));
    EQUAL(found, own);
    OK(MPI_Comm_remote_size(comm, &found));
    EQUAL(found, others);
    OK(MPI_Comm_rank(comm, &found));
    MPI_Request requests[128];
    int sent = found * 1000 + side;
    for (int message = 0; message < 2 * others; message++)
        OK(MPI_Isend(&sent, 1, MPI_INT, message / 2, message % 2, comm, &requests[message]));
    for (int peer = 0; peer < others; peer++) {
        MPI_Status status;
        OK(MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &status));
        from = status.MPI_SOURCE;
        EQUAL(token, from * 1000 + 1 - side);
        OK(MPI_Recv(&token, 1, MPI_INT, peer, 1, comm, &status));
        EQUAL(status.MPI_SOURCE, peer);
        EQUAL(token, peer * 1000 + 1 - side);
    }
    OK(MPI_Waitall(2 * others, requests, MPI_STATUSES_IGNORE));
}

#endif
