/* Several jobs that act as one: the first spawns the second, both together the third, and so on. */
#ifndef JOBS_H
#define JOBS_H

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MOST_ARGUMENTS = 30 };

/* All processes of all jobs; `rank` and `size` are those in it. */
static MPI_Comm everybody;

static inline int number_after(int argc, char **argv, const char *name, int otherwise) {
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return atoi(argv[i + 1]);
    return otherwise;
}

/* Merges both groups, the parents' first, and ends what was between them. */
static inline void join_everybody(MPI_Comm between, int is_child) {
    MPI_Comm merged;
    OK(MPI_Intercomm_merge(between, is_child, &merged));
    OK(MPI_Comm_disconnect(&between));
    if (everybody != MPI_COMM_WORLD && everybody != MPI_COMM_NULL)
        OK(MPI_Comm_disconnect(&everybody));
    everybody = merged;
}

/* Begins `--jobs J` jobs, each but the first of `--each P` processes: this is job `--job I`, which only those that are
   spawned are told. */
static inline void begin_jobs(int *argc, char ***argv) {
    begin(argc, argv);
    int jobs = number_after(*argc, *argv, "--jobs", 1), each = number_after(*argc, *argv, "--each", 1);
    int job = number_after(*argc, *argv, "--job", 0);
    everybody = MPI_COMM_WORLD;
    if (job > 0) {
        MPI_Comm parent;
        OK(MPI_Comm_get_parent(&parent));
        CHECK(parent != MPI_COMM_NULL, "job %d has no parent", job);
        everybody = MPI_COMM_NULL;
        join_everybody(parent, 1);
    }
    while (++job < jobs) {
        char number[12], *arguments[MOST_ARGUMENTS] = {"--job", number};
        MPI_Comm between;
        snprintf(number, sizeof number, "%d", job);
        for (int i = 1; i < *argc && i + 2 < MOST_ARGUMENTS; i++)
            arguments[i + 1] = (*argv)[i];
        OK(MPI_Comm_spawn((*argv)[0], arguments, each, MPI_INFO_NULL, 0, everybody, &between, MPI_ERRCODES_IGNORE));
        join_everybody(between, 0);
    }
    OK(MPI_Comm_set_errhandler(everybody, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(everybody, &rank));
    OK(MPI_Comm_size(everybody, &size));
}

/* As end, of all jobs. */
static inline int end_jobs(void) {
    OK(MPI_Barrier(everybody));
    if (rank == 0)
        printf("passed on %d\n", size);
    if (everybody != MPI_COMM_WORLD)
        OK(MPI_Comm_disconnect(&everybody));
    MPI_Finalize();
    return 0;
}

#endif
