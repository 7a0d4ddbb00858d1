/* Every collective in every lifetime, for tests of what holds for all of them. */
#ifndef OXMPI_TESTS_SORTS_H
#define OXMPI_TESTS_SORTS_H

#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, LIFETIMES };

enum {
    ALLGATHER, ALLGATHERV, ALLREDUCE, ALLTOALL, ALLTOALLV, ALLTOALLW, BARRIER, BCAST, GATHER, GATHERV, REDUCE,
    SCATTER, SCATTERV, SORTS
};

/* What the arrays of the vector forms hold: blocks of `count` integers, in reversed order. */
typedef struct {
    int counts[16], places[16], bytes[16];
    MPI_Datatype types[16];
} Arrays;

/* A collective with buffers of its own. */
typedef struct {
    MPI_Comm comm;
    int sort, count, root, ranks, me;
    int *sent, *received;
    Arrays *arrays;
    MPI_Info info;
} Collective;

static inline int has_arrays(int sort) {
    return sort == ALLGATHERV || sort == ALLTOALLV || sort == ALLTOALLW || sort == GATHERV || sort == SCATTERV;
}

/* Element `i` of the block that a rank has for another, or for all. */
static inline int element(int from, int to, int i, int round) {
    return 7919 * round + 101 * from + 1009 * to + 3 * i;
}

static inline Collective collective(MPI_Comm comm, int sort, int count, int root) {
    Collective it = {.comm = comm, .sort = sort, .count = count, .root = root, .info = MPI_INFO_NULL};
    OK(MPI_Comm_size(comm, &it.ranks));
    OK(MPI_Comm_rank(comm, &it.me));
    it.sent = malloc(sizeof(int) * (size_t)(count * it.ranks + 1));
    it.received = malloc(sizeof(int) * (size_t)(count * it.ranks + 1));
    it.arrays = malloc(sizeof *it.arrays);
    for (int r = 0; r < it.ranks; r++) {
        it.arrays->counts[r] = count;
        it.arrays->places[r] = (it.ranks - 1 - r) * count;
        it.arrays->bytes[r] = it.arrays->places[r] * (int)sizeof(int);
        it.arrays->types[r] = MPI_INT;
    }
    return it;
}

static inline void discard(Collective *it) {
    free(it->sent);
    free(it->received);
    free(it->arrays);
}

/* Where the block of a rank lies. */
static inline int place_of(const Collective *it, int r) {
    return (has_arrays(it->sort) ? it->ranks - 1 - r : r) * it->count;
}

static inline void fill(Collective *it, int round) {
    int is_per_rank = it->sort == ALLTOALL || it->sort == ALLTOALLV || it->sort == ALLTOALLW ||
        it->sort == SCATTER || it->sort == SCATTERV;
    for (int r = 0; r < (is_per_rank ? it->ranks : 1); r++)
        for (int i = 0; i < it->count; i++)
            it->sent[(is_per_rank ? place_of(it, r) : 0) + i] = element(it->me, r, i, round);
    for (int i = 0; i <= it->count * it->ranks; i++)
        it->received[i] = -1;
    if (it->sort == BCAST && it->me == it->root)
        memcpy(it->received, it->sent, sizeof(int) * (size_t)it->count);
}

static inline void verify_block(const Collective *it, int place, int from, int to, int round) {
    for (int i = 0; i < it->count; i++)
        EQUAL(it->received[place + i], element(from, to, i, round));
}

static inline void verify_blocks(const Collective *it, int to, int round) {
    for (int r = 0; r < it->ranks; r++)
        verify_block(it, place_of(it, r), r, to, round);
    EQUAL(it->received[it->ranks * it->count], -1);
}

static inline void verify_sum(const Collective *it, int round) {
    for (int i = 0; i < it->count; i++) {
        int sum = 0;
        for (int r = 0; r < it->ranks; r++)
            sum += element(r, 0, i, round);
        EQUAL(it->received[i], sum);
    }
}

/* Everybody has what the collective gives him, and nothing else was written. */
static inline void verify(const Collective *it, int round) {
    int is_to_root = it->sort == GATHER || it->sort == GATHERV || it->sort == REDUCE;
    if (it->sort == BARRIER || (is_to_root && it->me != it->root))
        EQUAL(it->received[0], -1);
    else if (it->sort == ALLREDUCE || it->sort == REDUCE)
        verify_sum(it, round);
    else if (it->sort == BCAST)
        verify_block(it, 0, it->root, 0, round);
    else if (it->sort == SCATTER || it->sort == SCATTERV)
        verify_block(it, 0, it->root, it->me, round);
    else
        verify_blocks(it, it->sort == ALLTOALL || it->sort == ALLTOALLV || it->sort == ALLTOALLW ? it->me : 0, round);
}

/* The call of one lifetime; a persistent request is made and not started. */
#define IN_LIFETIME(blocking, nonblocking, ...)                                                     \
    do {                                                                                            \
        if (lifetime == BLOCKING)                                                                   \
            OK(blocking(__VA_ARGS__));                                                              \
        else if (lifetime == NONBLOCKING)                                                           \
            OK(nonblocking(__VA_ARGS__, request));                                                  \
        else                                                                                        \
            OK(blocking##_init(__VA_ARGS__, it->info, request));                                    \
    } while (0)

static inline void call_uniform(const Collective *it, int lifetime, MPI_Request *request) {
    int n = it->count, root = it->root, *in = it->sent, *out = it->received;
    switch (it->sort) {
    case ALLGATHER:
        IN_LIFETIME(MPI_Allgather, MPI_Iallgather, in, n, MPI_INT, out, n, MPI_INT, it->comm);
        break;
    case ALLREDUCE:
        IN_LIFETIME(MPI_Allreduce, MPI_Iallreduce, in, out, n, MPI_INT, MPI_SUM, it->comm);
        break;
    case ALLTOALL:
        IN_LIFETIME(MPI_Alltoall, MPI_Ialltoall, in, n, MPI_INT, out, n, MPI_INT, it->comm);
        break;
    case BARRIER:
        IN_LIFETIME(MPI_Barrier, MPI_Ibarrier, it->comm);
        break;
    case BCAST:
        IN_LIFETIME(MPI_Bcast, MPI_Ibcast, out, n, MPI_INT, root, it->comm);
        break;
    case GATHER:
        IN_LIFETIME(MPI_Gather, MPI_Igather, in, n, MPI_INT, out, n, MPI_INT, root, it->comm);
        break;
    case REDUCE:
        IN_LIFETIME(MPI_Reduce, MPI_Ireduce, in, out, n, MPI_INT, MPI_SUM, root, it->comm);
        break;
    default:
        IN_LIFETIME(MPI_Scatter, MPI_Iscatter, in, n, MPI_INT, out, n, MPI_INT, root, it->comm);
    }
}

static inline void call(const Collective *it, int lifetime, MPI_Request *request) {
    int n = it->count, root = it->root, *in = it->sent, *out = it->received;
    Arrays *a = it->arrays;
    switch (it->sort) {
    case ALLGATHERV:
        IN_LIFETIME(MPI_Allgatherv, MPI_Iallgatherv, in, n, MPI_INT, out, a->counts, a->places, MPI_INT, it->comm);
        break;
    case ALLTOALLV:
        IN_LIFETIME(MPI_Alltoallv, MPI_Ialltoallv, in, a->counts, a->places, MPI_INT, out, a->counts, a->places,
                    MPI_INT, it->comm);
        break;
    case ALLTOALLW:
        IN_LIFETIME(MPI_Alltoallw, MPI_Ialltoallw, in, a->counts, a->bytes, a->types, out, a->counts, a->bytes,
                    a->types, it->comm);
        break;
    case GATHERV:
        IN_LIFETIME(MPI_Gatherv, MPI_Igatherv, in, n, MPI_INT, out, a->counts, a->places, MPI_INT, root, it->comm);
        break;
    case SCATTERV:
        IN_LIFETIME(MPI_Scatterv, MPI_Iscatterv, in, a->counts, a->places, MPI_INT, out, n, MPI_INT, root, it->comm);
        break;
    default:
        call_uniform(it, lifetime, request);
    }
}

/* Begins an operation that is completed by its request: nonblocking, or persistent and started. */
static inline void begin_one(const Collective *it, int lifetime, MPI_Request *request) {
    call(it, lifetime, request);
    if (lifetime == PERSISTENT)
        OK(MPI_Start(request));
}

/* Completes what `begin_one` has begun. */
static inline void complete_one(MPI_Request *request) {
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (*request != MPI_REQUEST_NULL)
        OK(MPI_Request_free(request));
}

/* One rank lets the others go on. */
static inline void hold(int holder, MPI_Comm comm) {
    int token = 0, ranks, me;
    OK(MPI_Comm_size(comm, &ranks));
    OK(MPI_Comm_rank(comm, &me));
    for (int r = 0; me == holder && r < ranks; r++)
        if (r != me)
            OK(MPI_Send(&token, 1, MPI_INT, r, 4711, comm));
    if (me != holder)
        OK(MPI_Recv(&token, 1, MPI_INT, holder, 4711, comm, MPI_STATUS_IGNORE));
}

#endif
