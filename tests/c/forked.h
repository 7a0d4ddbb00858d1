/* What a rank has under way while a child of it that was forked off ends. */
#ifndef FORKED_H
#define FORKED_H

#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* The child ends with what `end_child` gives; what its parent exchanges with its neighbours is whole. */
static inline void exchange_beside_child(MPI_Comm comm, int (*end_child)(void)) {
    enum { LONG = 1 << 22 };
    static char sent[LONG], got[LONG];
    MPI_Request requests[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, status;
    memset(sent, rank + 1, LONG);
    OK(MPI_Irecv(got, LONG, MPI_CHAR, left, 0, comm, &requests[0]));
    OK(MPI_Isend(sent, LONG, MPI_CHAR, right, 0, comm, &requests[1]));
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0)
        _exit(end_child());
    waitpid(child, &status, 0);
    EQUAL(status, 0);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EQUAL(got[LONG - 1], left + 1);
}

#endif
