/* Every collective in every lifetime, for tests of what holds for all of them. */
#ifndef OXMPI_TESTS_SORTS_H
#define OXMPI_TESTS_SORTS_H

#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, LIFETIMES };

enum {
    ALLGATHER, ALLGATHERV, ALLREDUCE, ALLTOALL, ALLTOALLV, ALLTOALLW, BARRIER, BCAST, EXSCAN, GATHER, GATHERV,
    NEIGHBOR_ALLGATHER, NEIGHBOR_ALLGATHERV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV, NEIGHBOR_ALLTOALLW, REDUCE,
    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, SCATTER, SCATTERV, SORTS
};

/* What the arrays of the vector forms hold: blocks of `count` integers, in reversed order. */
typedef struct {
    int counts[16], places[16], bytes[16];
    MPI_Aint addresses[16];
    MPI_Datatype types[16];
} Arrays;

/* A collective with buffers of its own, within a group or between two. */
typedef struct {
    MPI_Comm comm;
    int me;
    /* Whom this rank hears from: how many, and the rank in the world of each; and as many who hear from it. */
    int peers, worlds[16], listeners[16];
    /* The root has this rank in its group; between two groups that is the group of rank 0 of the world. */
    int root, is_root, is_beside_root, root_argument;
    int sort, count;
    /* What a rank gets of a vector that is scattered, and how long the buffers are, but for one element. */
    int share, room;
    int *sent, *received;
    Arrays *arrays;
    MPI_Info info;
} Collective;

static inline int has_arrays(int sort) {
    return sort == ALLGATHERV || sort == ALLTOALLV || sort == ALLTOALLW || sort == GATHERV ||
        sort == NEIGHBOR_ALLGATHERV || sort == NEIGHBOR_ALLTOALLV || sort == NEIGHBOR_ALLTOALLW ||
        sort == REDUCE_SCATTER || sort == SCATTERV;
}

static inline int is_neighborhood(int sort) {
    return sort >= NEIGHBOR_ALLGATHER && sort <= NEIGHBOR_ALLTOALLW;
}

static inline int is_reduce_scatter(int sort) {
    return sort == REDUCE_SCATTER || sort == REDUCE_SCATTER_BLOCK;
}

/* Element `i` of the block that a rank has for another, or for all. */
static inline int element(int from, int to, int i, int round) {
    return 7919 * round + 101 * from + 1009 * to + 3 * i;
}

/* The ranks in the world of a group's members, and how many they are. */
static inline int members(MPI_Group group, int *worlds) {
    MPI_Group world;
    int count, indices[16];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(group, &count));
    for (int i = 0; i < count; i++)
        indices[i] = i;
    OK(MPI_Group_translate_ranks(group, count, indices, world, worlds));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&group));
    return count;
}

/* Who is the root, and what this rank says of it; `root` may be any number. */
static inline void choose_root(Collective *it, int root) {
    int is_inter, locals, own[16], has_first = 0;
    MPI_Group group;
    OK(MPI_Comm_test_inter(it->comm, &is_inter));
    OK(MPI_Comm_rank(it->comm, &it->me));
    OK(MPI_Comm_group(it->comm, &group));
    locals = members(group, own);
    if (is_inter)
        OK(MPI_Comm_remote_group(it->comm, &group));
    else
        OK(MPI_Comm_group(it->comm, &group));
    it->peers = members(group, it->worlds);
    for (int i = 0; i < locals; i++)
        has_first |= own[i] == 0;
    it->root = root % (has_first || !is_inter ? locals : it->peers);
    it->is_root = it->me == it->root && (has_first || !is_inter);
    it->is_beside_root = is_inter && has_first && !it->is_root;
    it->root_argument = it->is_beside_root ? MPI_PROC_NULL : is_inter && it->is_root ? MPI_ROOT : it->root;
    /* The vectors of two groups have one length. */
    it->share = is_inter ? it->count * it->peers : it->count;
    it->room = is_reduce_scatter(it->sort) ? it->share * locals : it->count * it->peers;
}

/* In place of all ranks, those that are neighbours. */
static inline void choose_neighbors(Collective *it) {
    int topology, sources[2], targets[2], weights[2], worlds[16];
    OK(MPI_Topo_test(it->comm, &topology));
    if (topology == MPI_CART) {
        OK(MPI_Cart_shift(it->comm, 0, 1, &sources[0], &sources[1]));
        memcpy(targets, sources, sizeof targets);
    } else {
        OK(MPI_Dist_graph_neighbors(it->comm, 2, sources, weights, 2, targets, weights));
    }
    memcpy(worlds, it->worlds, sizeof worlds);
    it->peers = 2;
    it->room = 2 * it->count;
    for (int k = 0; k < 2; k++) {
        it->worlds[k] = worlds[sources[k]];
        it->listeners[k] = worlds[targets[k]];
    }
}

/* What there is not between two groups is replaced by what is like it. */
static inline int sort_on(MPI_Comm comm, int sort) {
    static const int alike[SORTS] = {[EXSCAN] = ALLREDUCE, [SCAN] = ALLREDUCE, [NEIGHBOR_ALLGATHER] = ALLGATHER,
        [NEIGHBOR_ALLGATHERV] = ALLGATHERV, [NEIGHBOR_ALLTOALL] = ALLTOALL, [NEIGHBOR_ALLTOALLV] = ALLTOALLV,
        [NEIGHBOR_ALLTOALLW] = ALLTOALLW};
    int is_inter;
    OK(MPI_Comm_test_inter(comm, &is_inter));
    return is_inter && (is_neighborhood(sort) || sort == EXSCAN || sort == SCAN) ? alike[sort] : sort;
}

static inline Collective collective(MPI_Comm comm, int sort, int count, int root) {
    Collective it = {.comm = comm, .sort = sort_on(comm, sort), .count = count, .info = MPI_INFO_NULL};
    choose_root(&it, root);
    memcpy(it.listeners, it.worlds, sizeof it.listeners);
    if (is_neighborhood(it.sort))
        choose_neighbors(&it);
    it.sent = malloc(sizeof(int) * (size_t)(it.room + 1));
    it.received = malloc(sizeof(int) * (size_t)(it.room + 1));
    it.arrays = malloc(sizeof *it.arrays);
    for (int r = 0; r < 16; r++) {
        it.arrays->counts[r] = is_reduce_scatter(it.sort) ? it.share : count;
        it.arrays->places[r] = (it.peers - 1 - r) * count;
        it.arrays->bytes[r] = it.arrays->places[r] * (int)sizeof(int);
        it.arrays->addresses[r] = it.arrays->bytes[r];
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
    return (has_arrays(it->sort) ? it->peers - 1 - r : r) * it->count;
}

static inline int is_exchange(int sort) {
    return sort == ALLTOALL || sort == ALLTOALLV || sort == ALLTOALLW || sort == NEIGHBOR_ALLTOALL ||
        sort == NEIGHBOR_ALLTOALLV || sort == NEIGHBOR_ALLTOALLW;
}

static inline int is_from_root(int sort) {
    return sort == BCAST || sort == SCATTER || sort == SCATTERV;
}

static inline int is_to_root(int sort) {
    return sort == GATHER || sort == GATHERV || sort == REDUCE;
}

static inline void fill(Collective *it, int round) {
    int has_blocks = is_exchange(it->sort) || it->sort == SCATTER || it->sort == SCATTERV;
    int count = is_reduce_scatter(it->sort) ? it->room : it->count;
    for (int r = 0; r < (has_blocks ? it->peers : 1); r++)
        for (int i = 0; i < count; i++)
            it->sent[(has_blocks ? place_of(it, r) : 0) + i] =
                element(rank, has_blocks ? it->listeners[r] : 0, i, round);
    for (int i = 0; i <= it->room; i++)
        it->received[i] = -1;
    if (it->sort == BCAST && it->is_root)
        memcpy(it->received, it->sent, sizeof(int) * (size_t)it->count);
}

static inline void verify_block(const Collective *it, int place, int from, int to, int round) {
    for (int i = 0; i < it->count; i++)
        EQUAL(it->received[place + i], element(from, to, i, round));
}

static inline void verify_blocks(const Collective *it, int to, int round) {
    for (int r = 0; r < it->peers; r++)
        verify_block(it, place_of(it, r), it->worlds[r], to, round);
    EQUAL(it->received[it->peers * it->count], -1);
}

/* The sum of the vectors of the first `summed` ranks, from element `first` on. */
static inline void verify_sum(const Collective *it, int summed, int first, int count, int round) {
    for (int i = 0; i < count; i++) {
        int sum = 0;
        for (int r = 0; r < summed; r++)
            sum += element(it->worlds[r], 0, first + i, round);
        EQUAL(it->received[i], sum);
    }
    EQUAL(it->received[count], -1);
}

/* Everybody has what the collective gives him, and nothing else was written. */
static inline void verify(const Collective *it, int round) {
    int gets_none = it->is_beside_root || (it->is_root && it->root_argument == MPI_ROOT);
    int is_first = it->sort == EXSCAN && it->me == 0;
    if (it->sort == BARRIER || is_first || (is_to_root(it->sort) && !it->is_root))
        EQUAL(it->received[0], -1);
    else if (it->sort == BCAST && it->is_root)
        verify_block(it, 0, rank, 0, round);
    else if (is_from_root(it->sort) && gets_none)
        EQUAL(it->received[0], -1);
    else if (is_from_root(it->sort))
        verify_block(it, 0, it->worlds[it->root], it->sort == BCAST ? 0 : rank, round);
    else if (it->sort == ALLREDUCE || it->sort == REDUCE)
        verify_sum(it, it->peers, 0, it->count, round);
    else if (it->sort == EXSCAN || it->sort == SCAN)
        verify_sum(it, it->me + (it->sort == SCAN), 0, it->count, round);
    else if (is_reduce_scatter(it->sort))
        verify_sum(it, it->peers, it->share * it->me, it->share, round);
    else
        verify_blocks(it, is_exchange(it->sort) ? rank : 0, round);
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
    int n = it->count, root = it->root_argument, *in = it->sent, *out = it->received;
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
    case EXSCAN:
        IN_LIFETIME(MPI_Exscan, MPI_Iexscan, in, out, n, MPI_INT, MPI_SUM, it->comm);
        break;
    case REDUCE:
        IN_LIFETIME(MPI_Reduce, MPI_Ireduce, in, out, n, MPI_INT, MPI_SUM, root, it->comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        IN_LIFETIME(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, it->share, MPI_INT, MPI_SUM, it->comm);
        break;
    case SCAN:
        IN_LIFETIME(MPI_Scan, MPI_Iscan, in, out, n, MPI_INT, MPI_SUM, it->comm);
        break;
    default:
        IN_LIFETIME(MPI_Scatter, MPI_Iscatter, in, n, MPI_INT, out, n, MPI_INT, root, it->comm);
    }
}

static inline void call_in_neighborhood(const Collective *it, int lifetime, MPI_Request *request) {
    int n = it->count, *in = it->sent, *out = it->received;
    MPI_Comm comm = it->comm;
    Arrays *a = it->arrays;
    switch (it->sort) {
    case NEIGHBOR_ALLGATHER:
        IN_LIFETIME(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, in, n, MPI_INT, out, n, MPI_INT, comm);
        break;
    case NEIGHBOR_ALLGATHERV:
        IN_LIFETIME(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, in, n, MPI_INT, out, a->counts, a->places,
                    MPI_INT, comm);
        break;
    case NEIGHBOR_ALLTOALL:
        IN_LIFETIME(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, in, n, MPI_INT, out, n, MPI_INT, comm);
        break;
    case NEIGHBOR_ALLTOALLV:
        IN_LIFETIME(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, in, a->counts, a->places, MPI_INT, out, a->counts,
                    a->places, MPI_INT, comm);
        break;
    default:
        IN_LIFETIME(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, in, a->counts, a->addresses, a->types, out,
                    a->counts, a->addresses, a->types, comm);
    }
}

static inline void call(const Collective *it, int lifetime, MPI_Request *request) {
    int n = it->count, root = it->root_argument, *in = it->sent, *out = it->received;
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
    case REDUCE_SCATTER:
        IN_LIFETIME(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, a->counts, MPI_INT, MPI_SUM, it->comm);
        break;
    case SCATTERV:
        IN_LIFETIME(MPI_Scatterv, MPI_Iscatterv, in, a->counts, a->places, MPI_INT, out, n, MPI_INT, root, it->comm);
        break;
    default:
        if (is_neighborhood(it->sort))
            call_in_neighborhood(it, lifetime, request);
        else
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

/* One rank of the world lets the others go on. */
static inline void hold(int holder) {
    int token = 0;
    for (int r = 0; rank == holder && r < size; r++)
        if (r != rank)
            OK(MPI_Send(&token, 1, MPI_INT, r, 4711, MPI_COMM_WORLD));
    if (rank != holder)
        OK(MPI_Recv(&token, 1, MPI_INT, holder, 4711, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The processes of a communicator as a ring: a communicator for every collective. */
static inline MPI_Comm ring_of(MPI_Comm comm) {
    MPI_Comm ring;
    int count;
    OK(MPI_Comm_size(comm, &count));
    OK(MPI_Cart_create(comm, 1, &count, &(int){1}, 0, &ring));
    return ring;
}

/* The processes of a communicator as a graph: each sends to the two that come next. */
static inline MPI_Comm graph_of(MPI_Comm comm) {
    MPI_Comm graph;
    int me, count;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &count));
    int sources[2] = {(me + count - 1) % count, (me + 2 * count - 2) % count};
    int targets[2] = {(me + 1) % count, (me + 2) % count};
    OK(MPI_Dist_graph_create_adjacent(comm, 2, sources, MPI_UNWEIGHTED, 2, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &graph));
    return graph;
}

/* The ranks of the world as a ring, as a graph in reversed order, and as two groups where there are two ranks. */
enum { COMMS = 3 };

static inline int make_comms(MPI_Comm *comms) {
    MPI_Comm half, reversed;
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed));
    comms[0] = ring_of(MPI_COMM_WORLD);
    comms[1] = graph_of(reversed);
    OK(MPI_Comm_free(&reversed));
    if (size == 1)
        return 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 3 == 1, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 3 != 1, 18, &comms[2]));
    OK(MPI_Comm_set_errhandler(comms[2], MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&half));
    return 3;
}

static inline void free_comms(MPI_Comm *comms, int count) {
    for (int k = 0; k < count; k++)
        OK(MPI_Comm_free(&comms[k]));
}

#endif
