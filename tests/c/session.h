/* What test programs of sessions share: checks without the world model, and its frame. */
#ifndef OXMPI_TESTS_SESSION_H
#define OXMPI_TESTS_SESSION_H

#include "check.h"

/* Opens a session whose errors are returned; rank and size are those of "mpi://WORLD". */
static inline MPI_Session opened(void) {
    MPI_Session made;
    MPI_Group world;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    OK(MPI_Group_from_session_pset(made, "mpi://WORLD", &world));
    OK(MPI_Group_rank(world, &rank));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_free(&world));
    return made;
}

/* What the info object says about a key. */
static inline const char *value_of(MPI_Info info, const char *key) {
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, found;
    OK(MPI_Info_get_string(info, key, &length, value, &found));
    return found ? value : "";
}

/* The runner looks for the line. */
static inline int passed(void) {
    if (rank == 0)
        printf("passed on %d\n", size);
    return 0;
}

#endif
