/* Short calls whose instructions are counted: run by `cargo xtask counts`, which says which of two ranks is counted by
   running that one under callgrind. For everybody else the requests to callgrind do nothing.

   A batch of calls is a dump, named for what was called. The other rank runs as fast as it can, so that what the counted
   one needs is there when it asks; where it was not, a batch counts looks in vain, and another batch has the least. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <valgrind/callgrind.h>

/* Fewer calls than a communicator has runs under way, so that either rank may be ahead by a batch. */
enum { CALLS = 12, BATCHES = 16, WARM_BATCHES = 4, AHEAD_MS = 3, LOOPS = 2000 };

enum { BLOCKING, NONBLOCKING, PERSISTENT, LIFETIMES };
static const char *const lifetimes[LIFETIMES] = {"blocking", "nonblocking", "persistent"};

enum { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, MESSAGE, PROBE, OPERATIONS };
static const char *const operations[OPERATIONS] = {"barrier", "bcast",  "gather",    "scatter", "allgather",
                                                   "alltoall", "reduce", "allreduce", "message", "iprobe"};

static const MPI_Comm comm = MPI_COMM_WORLD;
static int rank;
static double from[2] = {1, 2}, into[2];

#define CALL(blocking, nonblocking, ...)                                                                              \
    (lifetime == BLOCKING      ? MPI_##blocking(__VA_ARGS__)                                                          \
     : lifetime == NONBLOCKING ? MPI_##nonblocking(__VA_ARGS__, request)                                              \
                               : MPI_##blocking##_init(__VA_ARGS__, MPI_INFO_NULL, request))

/* Rank 0 is the root, and sends. */
static int begin(int operation, int lifetime, MPI_Request *request) {
    const MPI_Datatype type = MPI_DOUBLE;
    int found;
    switch (operation) {
    case BARRIER: return CALL(Barrier, Ibarrier, comm);
    case BCAST: return CALL(Bcast, Ibcast, rank == 0 ? from : into, 1, type, 0, comm);
    case GATHER: return CALL(Gather, Igather, from, 1, type, into, 1, type, 0, comm);
    case SCATTER: return CALL(Scatter, Iscatter, from, 1, type, into, 1, type, 0, comm);
    case ALLGATHER: return CALL(Allgather, Iallgather, from, 1, type, into, 1, type, comm);
    case ALLTOALL: return CALL(Alltoall, Ialltoall, from, 1, type, into, 1, type, comm);
    case REDUCE: return CALL(Reduce, Ireduce, from, into, 1, type, MPI_SUM, 0, comm);
    case ALLREDUCE: return CALL(Allreduce, Iallreduce, from, into, 1, type, MPI_SUM, comm);
    case MESSAGE:
        if (rank == 0)
            return lifetime == BLOCKING      ? MPI_Send(from, 1, type, 1, 0, comm)
                   : lifetime == NONBLOCKING ? MPI_Isend(from, 1, type, 1, 0, comm, request)
                                             : MPI_Send_init(from, 1, type, 1, 0, comm, request);
        return lifetime == BLOCKING      ? MPI_Recv(into, 1, type, 0, 0, comm, MPI_STATUS_IGNORE)
               : lifetime == NONBLOCKING ? MPI_Irecv(into, 1, type, 0, 0, comm, request)
                                         : MPI_Recv_init(into, 1, type, 0, 0, comm, request);
    default: return MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &found, MPI_STATUS_IGNORE);
    }
}

/* Lets the other one do what it can before our next call. */
static void linger(void) {
    for (volatile int i = 0; i < LOOPS; i++)
        ;
}

static void call(int operation, int lifetime, MPI_Request *kept) {
    MPI_Request request;
    if (lifetime == BLOCKING) {
        begin(operation, BLOCKING, NULL);
    } else if (lifetime == NONBLOCKING) {
        begin(operation, NONBLOCKING, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Start(kept);
        MPI_Wait(kept, MPI_STATUS_IGNORE);
    }
}

/* Lets the other one go ahead. */
static void step_aside(void) {
    const struct timespec time = {0, AHEAD_MS * 1000000L};
    nanosleep(&time, NULL);
}

static void count(int operation, int lifetime) {
    char name[64];
    MPI_Request kept = MPI_REQUEST_NULL;
    snprintf(name, sizeof name, "%s/%s/%d", operations[operation], lifetimes[lifetime], CALLS);
    if (lifetime == PERSISTENT)
        begin(operation, PERSISTENT, &kept);
    for (int i = 0; i < WARM_BATCHES + BATCHES; i++) {
        MPI_Barrier(comm);
        if (RUNNING_ON_VALGRIND)
            step_aside();
        CALLGRIND_ZERO_STATS;
        for (int k = 0; k < CALLS; k++) {
            if (RUNNING_ON_VALGRIND)
                linger();
            CALLGRIND_TOGGLE_COLLECT;
            call(operation, lifetime, &kept);
            CALLGRIND_TOGGLE_COLLECT;
        }
        if (i >= WARM_BATCHES)
            CALLGRIND_DUMP_STATS_AT(name);
    }
    if (kept != MPI_REQUEST_NULL)
        MPI_Request_free(&kept);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(comm, &rank);
    for (int operation = 0; operation < OPERATIONS; operation++)
        for (int lifetime = 0; lifetime < (operation == PROBE ? 1 : LIFETIMES); lifetime++)
            count(operation, lifetime);
    MPI_Finalize();
    return 0;
}
