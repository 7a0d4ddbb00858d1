/* One collective operation drawn from a seed that all ranks share: so each knows what every other one contributes,
   and what it must get itself. */
#ifndef OXMPI_TESTS_MATRIX_OPERATION_H
#define OXMPI_TESTS_MATRIX_OPERATION_H

#include "buffers.h"
#include "reductions.h"

#define OPERATION(name, ...) name,
typedef enum {
#include "cells.h"
    NAMES
} Name;

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } Lifetime;
typedef enum { INT, LARGE } Width;

/* What the table says of each. */
typedef struct { int is_neighborhood, is_rooted, is_reduction, has_inter, has_in_place; } Facts;

#define OPERATION(name, ...) [name] = {__VA_ARGS__},
static const Facts facts[NAMES] = {
#include "cells.h"
};

static const struct { Style send, recv; } styles[NAMES] = {
    [ALLGATHER] = {ONE, EQUAL_ONES}, [ALLGATHERV] = {ONE, VECTOR}, [ALLREDUCE] = {ONE, ONE},
    [ALLTOALL] = {EQUAL_ONES, EQUAL_ONES}, [ALLTOALLV] = {VECTOR, VECTOR}, [ALLTOALLW] = {EACH, EACH},
    [BARRIER] = {NONE, NONE}, [BCAST] = {ONE, ONE}, [EXSCAN] = {ONE, ONE}, [GATHER] = {ONE, EQUAL_ONES},
    [GATHERV] = {ONE, VECTOR}, [NEIGHBOR_ALLGATHER] = {ONE, EQUAL_ONES}, [NEIGHBOR_ALLGATHERV] = {ONE, VECTOR},
    [NEIGHBOR_ALLTOALL] = {EQUAL_ONES, EQUAL_ONES}, [NEIGHBOR_ALLTOALLV] = {VECTOR, VECTOR},
    [NEIGHBOR_ALLTOALLW] = {EACH, EACH}, [REDUCE] = {ONE, ONE}, [REDUCE_SCATTER] = {ONE, ONE},
    [REDUCE_SCATTER_BLOCK] = {ONE, ONE}, [SCAN] = {ONE, ONE}, [SCATTER] = {EQUAL_ONES, ONE}, [SCATTERV] = {VECTOR, ONE},
};

/* Other libraries look at arguments that do not count, and find fault with Testall over inactive requests. */
static int is_foreign;

/* The arguments by the standard's names. */
typedef struct {
    void *buffer, *recvbuf;
    const void *sendbuf;
    MPI_Count count, sendcount, recvcount;
    Numbers sendcounts, recvcounts, displs, sdispls, rdispls;
    MPI_Datatype datatype, sendtype, recvtype;
    const MPI_Datatype *sendtypes, *recvtypes;
    MPI_Op op;
    int root;
    MPI_Comm comm;
    MPI_Info info;
} Arguments;

typedef struct {
    Name operation;
    Lifetime lifetime;
    Width width;
    int is_built;
    const char *name;
    int (*call)(const Arguments *, MPI_Request *);
} Cell;

typedef struct {
    const Cell *cell;
    const Comm *comm;
    /* All that follows until `send` is drawn from it. */
    uint64_t key;
    /* Counts are multiples of `unit` elements, most often at most `longest` times. */
    int unit, longest, rounds, in_place, root_group, root;
    Signature signature;
    const Reduction *reduction;
    Side send, recv;
    Arguments arguments;
    MPI_Request request;
} Operation;

/* A number from 0 to `below` - 1 that belongs to these. */
static int drawn(const Operation *it, int what, int group, int member, int stream, int below) {
    uint64_t place = (((uint64_t)what * 2 + group) * 64 + member) * 64 + stream;
    return (int)(mix(it->key ^ mix(place)) % (uint64_t)below);
}

enum { COUNT = 1, PART, FORM, BESIDE };

/* The group that this rank sends to and receives from. */
static int other_group(const Comm *comm) {
    return comm->kind == INTER ? !comm->group : 0;
}

/* A count that is often 0 or 1. */
static long some(const Operation *it, int what, int group, int member, int stream) {
    int kind = drawn(it, what, group, member, stream, 5), many = drawn(it, what + 8, group, member, stream, it->longest);
    return (long)it->unit * (kind == 0 ? 0 : kind == 1 ? 1 : 1 + many);
}

/* Elements of the vectors that a reduction combines. */
static long vector_elements(const Operation *it) {
    long blocks = 1;
    if (it->cell->operation == REDUCE_SCATTER_BLOCK)
        blocks = (long)it->comm->sizes[0] * (it->comm->kind == INTER ? it->comm->sizes[1] : 1);
    return blocks * some(it, COUNT, 0, 0, 0);
}

/* How many of them member `member` of a group gets, and where these begin. */
static long part_elements(const Operation *it, int group, int member, long *first) {
    int members = it->comm->sizes[group];
    long left = vector_elements(it) / it->unit, part = 0;
    *first = 0;
    if (it->cell->operation == REDUCE_SCATTER_BLOCK) {
        *first = vector_elements(it) / members * member;
        return vector_elements(it) / members;
    }
    for (int i = 0; i <= member; i++) {
        *first += part * it->unit;
        part = i == members - 1 ? left : drawn(it, PART, group, i, 0, (int)left + 1);
        left -= part;
    }
    return part * it->unit;
}

/* Elements of the block that a member of a group sends as its `stream`-th. */
static long elements(const Operation *it, int group, int member, int stream) {
    Style send = styles[it->cell->operation].send, recv = styles[it->cell->operation].recv;
    if (facts[it->cell->operation].is_reduction)
        return vector_elements(it);
    /* In place, what goes and what comes lie in the same place. */
    if (send >= VECTOR && it->in_place)
        return some(it, COUNT, 0, member < stream ? member : stream, member < stream ? stream : member);
    if (send >= VECTOR)
        return some(it, COUNT, group, member, stream);
    return recv >= VECTOR ? some(it, COUNT, group, member, 0) : some(it, COUNT, group, 0, 0);
}

/* What one member sends. */
static Block stream_of(const Operation *it, int group, int member, int stream) {
    return (Block){group, member, member + 1, stream, 0, elements(it, group, member, stream)};
}

/* Whose block arrives as the `n`-th: what is sent to one direction of a grid comes from the other one, and in a graph
   the k-th edge between two ranks is the k-th for both. */
static Block from_neighbor(const Operation *it, int n) {
    const Comm *comm = it->comm;
    const Neighbors *sources = &comm->sources[comm->me];
    int source = sources->ranks[n], is_one = styles[it->cell->operation].send == ONE, stream = n ^ 1;
    if (source == MPI_PROC_NULL)
        return (Block){.elements = is_one && styles[it->cell->operation].recv >= VECTOR
                           ? some(it, BESIDE, 0, comm->me, n) : elements(it, 0, comm->me, n)};
    if (comm->kind != CART) {
        int edge = 0;
        for (int before = 0; before < n; before++)
            edge += sources->ranks[before] == source;
        stream = -1;
        do
            edge -= comm->destinations[source].ranks[++stream] == comm->me;
        while (edge >= 0);
    }
    return stream_of(it, 0, source, is_one ? 0 : stream);
}

static void plan_neighbors(Operation *it) {
    const Comm *comm = it->comm;
    int is_one = it->send.style == ONE;
    it->send.blocks = is_one ? 1 : comm->destinations[comm->me].count;
    for (int n = 0; n < it->send.blocks; n++)
        it->send.after[n] = stream_of(it, 0, comm->me, n);
    memcpy(it->send.before, it->send.after, sizeof it->send.before);
    it->recv.blocks = comm->sources[comm->me].count;
    for (int n = 0; n < it->recv.blocks; n++)
        it->recv.after[n] = from_neighbor(it, n);
}

/* What a reduction leaves on this rank. */
static Block reduced(const Operation *it) {
    const Comm *comm = it->comm;
    Name name = it->cell->operation;
    int end = name == SCAN ? comm->me + 1 : name == EXSCAN ? comm->me : comm->sizes[other_group(comm)];
    Block block = {other_group(comm), 0, end, 0, 0, vector_elements(it)};
    if (name == REDUCE_SCATTER || name == REDUCE_SCATTER_BLOCK)
        block.elements = part_elements(it, comm->group, comm->me, &block.first);
    return block;
}

/* The own contribution lies where the result will be; the send buffer is none. */
static void move_in_place(Operation *it) {
    const Comm *comm = it->comm;
    Side *send = &it->send, *recv = &it->recv;
    if (facts[it->cell->operation].is_reduction)
        recv->before[0] = send->after[0];
    else if (send->style == ONE)
        recv->before[comm->me] = recv->after[comm->me];
    else
        memcpy(recv->before, send->after, sizeof recv->before);
    send->blocks = 0;
}

/* Which blocks this rank sends, and which it gets. */
static void plan(Operation *it) {
    const Comm *comm = it->comm;
    Name name = it->cell->operation;
    Side *send = &it->send, *recv = &it->recv;
    int peer = other_group(comm), peers = comm->sizes[peer];
    int is_rooted = facts[name].is_rooted, is_reduction = facts[name].is_reduction;
    int is_root = comm->group == it->root_group && comm->me == it->root;
    int faces_root = comm->kind != INTER || comm->group != it->root_group;
    int from_root = name == BCAST || (is_rooted && styles[name].send != ONE);
    int sends = !is_rooted || (from_root ? is_root : faces_root);
    int receives = !is_rooted || (from_root ? faces_root && !(is_root && name == BCAST) : is_root);
    send->style = styles[name].send, recv->style = styles[name].recv;
    if (facts[name].is_neighborhood)
        return plan_neighbors(it);
    send->blocks = !sends || send->style == NONE ? 0 : send->style == ONE ? 1 : peers;
    for (int n = 0; n < send->blocks; n++)
        send->after[n] = stream_of(it, comm->group, comm->me, n);
    recv->blocks = !receives || recv->style == NONE ? 0 : recv->style == ONE ? 1 : peers;
    for (int n = 0; n < recv->blocks; n++) {
        if (is_reduction)
            recv->after[n] = reduced(it);
        else if (from_root)
            recv->after[n] = stream_of(it, it->root_group, it->root, name == BCAST ? 0 : comm->me);
        else
            recv->after[n] = stream_of(it, peer, n, send->style == ONE ? 0 : comm->me);
    }
    if (it->in_place && from_root && is_root)
        recv->blocks = 0;
    else if (it->in_place && !from_root && recv->blocks > 0)
        move_in_place(it);
    memcpy(send->before, send->after, sizeof send->before);
}

/* A datatype of the operation's signature of which its counts are multiples. */
static const Layout *choose_layout(const Operation *it, int group, int member, int choice) {
    const Layout *fitting[LAYOUTS];
    int count = 0;
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].base->signature == it->signature && it->unit % layouts[i].elements == 0)
            fitting[count++] = &layouts[i];
    if (it->reduction != NULL && !it->reduction->own)
        return fitting[0];
    return fitting[drawn(it, FORM, group, member, choice, count)];
}

static void choose_layouts(Operation *it) {
    const Comm *comm = it->comm;
    Side *sides[] = {&it->send, &it->recv};
    for (int side = 0; side < 2; side++)
        for (int n = 0; n < MOST_NEIGHBORS; n++) {
            int choice = sides[side]->style == EACH ? 2 * n + side : side;
            /* All ranks combine elements of one datatype. */
            sides[side]->layout[n] = it->reduction != NULL ? choose_layout(it, 0, 0, 0)
                                                           : choose_layout(it, comm->group, comm->me, choice);
        }
}

/* Of a side that does nothing no argument counts. */
static void set_send_arguments(Operation *it, int counts) {
    Arguments *a = &it->arguments;
    const Side *send = &it->send;
    a->sendbuf = counts ? address_of(send) : NULL;
    a->sendcount = counts ? send->counts.counts[0] : -7;
    a->sendtype = counts ? send->types[0] : MPI_DATATYPE_NULL;
    if (counts) {
        a->sendcounts = numbers(&send->counts);
        a->sdispls = numbers(&send->displs);
        a->sendtypes = send->types;
    }
}

static void set_recv_arguments(Operation *it, int counts) {
    Arguments *a = &it->arguments;
    const Side *recv = &it->recv;
    a->recvbuf = counts ? address_of(recv) : NULL;
    a->recvcount = counts ? recv->counts.counts[0] : -7;
    a->recvtype = counts ? recv->types[0] : MPI_DATATYPE_NULL;
    if (counts) {
        a->recvcounts = numbers(&recv->counts);
        a->rdispls = numbers(&recv->displs);
        a->recvtypes = recv->types;
    }
}

/* Those of reductions: one count and one datatype for both sides. */
static void set_vector_arguments(Operation *it) {
    Arguments *a = &it->arguments;
    const Comm *comm = it->comm;
    long first, elements = it->send.layout[0]->elements;
    a->count = vector_elements(it) / elements;
    a->datatype = it->send.types[0];
    a->op = it->reduction->op;
    if (it->cell->operation != REDUCE_SCATTER)
        return;
    for (int member = 0; member < comm->sizes[comm->group]; member++)
        set_number(&it->recv.counts, member, part_elements(it, comm->group, member, &first) / elements);
}

static void set_arguments(Operation *it) {
    Arguments *a = &it->arguments;
    const Comm *comm = it->comm;
    const Facts *fact = &facts[it->cell->operation];
    int is_root = comm->group == it->root_group && comm->me == it->root, beside = is_root ? MPI_ROOT : MPI_PROC_NULL;
    int sends = it->send.blocks > 0 || fact->is_neighborhood, gets = it->recv.blocks > 0 || fact->is_neighborhood;
    *a = (Arguments){.comm = comm->comm, .info = MPI_INFO_NULL, .op = MPI_OP_NULL};
    a->root = comm->kind == INTER && comm->group == it->root_group ? beside : it->root;
    set_send_arguments(it, sends);
    set_recv_arguments(it, gets);
    a->displs = it->recv.style == VECTOR ? a->rdispls : a->sdispls;
    a->buffer = sends ? address_of(&it->send) : a->recvbuf;
    a->count = sends ? a->sendcount : a->recvcount;
    a->datatype = sends ? a->sendtype : a->recvtype;
    if (fact->is_reduction && (sends || gets))
        set_vector_arguments(it);
    if (is_foreign && it->cell->operation == BCAST && !sends && !gets)
        a->count = 0, a->datatype = MPI_INT;
    if (it->in_place && !sends)
        a->sendbuf = MPI_IN_PLACE;
    if (it->in_place && !gets && is_root)
        a->recvbuf = MPI_IN_PLACE;
}

#endif
