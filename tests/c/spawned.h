/* Programs that spawn themselves: `--as ROLE`, the first argument, says what a child shall do. */
#ifndef OXMPI_TESTS_SPAWNED_H
#define OXMPI_TESTS_SPAWNED_H

#include "check.h"

/* What a child shall do, and by what it reaches those that have spawned it; nothing in what nobody has spawned. */
static const char *role;
static MPI_Comm parent = MPI_COMM_NULL;

static inline int is_role(const char *name) {
    return role != NULL && strcmp(role, name) == 0;
}

/* As begin, at a level of thread support. */
static inline void begin_role(int *argc, char ***argv, int level) {
    int given;
    MPI_Init_thread(argc, argv, level, &given);
    joined();
    EQUAL(given, level);
    if (*argc > 2 && strcmp((*argv)[1], "--as") == 0)
        role = (*argv)[2];
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
}

/* The sizes of both groups. */
static inline void check_sizes(MPI_Comm inter, int own, int others) {
    int flag, found;
    OK(MPI_Comm_test_inter(inter, &flag));
    CHECK(flag, "there are two groups");
    OK(MPI_Comm_size(inter, &found));
    EQUAL(found, own);
    OK(MPI_Comm_remote_size(inter, &found));
    EQUAL(found, others);
}

/* Each process tells each of the other group what it knows of itself. Both sides call it. */
static inline void greet_all(MPI_Comm inter, int value) {
    enum { MOST = 256 };
    int others, own_rank, sum = 0, expected = 0, all[MOST];
    MPI_Request sends[MOST];
    OK(MPI_Comm_remote_size(inter, &others));
    OK(MPI_Comm_rank(inter, &own_rank));
    CHECK(others <= MOST, "the test has room for fewer");
    int mine = 1000 * value + own_rank;
    OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int r = 0; r < others; r++)
        OK(MPI_Isend(&mine, 1, MPI_INT, r, 5, inter, &sends[r]));
    for (int r = 0; r < others; r++) {
        MPI_Status status;
        int token;
        EQUAL(all[r] % 1000, r);
        expected += all[r];
        OK(MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
        EQUAL(token, all[status.MPI_SOURCE]);
    }
    OK(MPI_Waitall(others, sends, MPI_STATUSES_IGNORE));
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter));
    EQUAL(sum, expected);
}

/* The last thing a child does. */
static inline int leave_parent(void) {
    OK(MPI_Comm_disconnect(&parent));
    EQUAL(parent == MPI_COMM_NULL, 1);
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL, "there is no parent after the end of the connection");
    MPI_Finalize();
    return 0;
}

#endif
