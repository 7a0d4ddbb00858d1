/* The collectives: their blocks, their calls, and what must come of them.

   Everything is counted in elements of eight bytes. Each rank sends blocks out of `from`, one for all or one for each,
   and receives them in `into`; whoever is on the other side of an intercommunicator is in `remote`. */
#include "bench.h"
#include <string.h>

#define MAX_BLOCKS 256

const struct operation operations[OPERATIONS] = {
    [BARRIER] = {"barrier", 0},
    [BCAST] = {"bcast", ROOTED},
    [GATHER] = {"gather", ROOTED | RECEIVES_EACH},
    [GATHERV] = {"gatherv", ROOTED | RECEIVES_EACH | LENGTHS},
    [SCATTER] = {"scatter", ROOTED | SENDS_EACH},
    [SCATTERV] = {"scatterv", ROOTED | SENDS_EACH | LENGTHS},
    [ALLGATHER] = {"allgather", RECEIVES_EACH},
    [ALLGATHERV] = {"allgatherv", RECEIVES_EACH | LENGTHS},
    [ALLTOALL] = {"alltoall", SENDS_EACH | RECEIVES_EACH},
    [ALLTOALLV] = {"alltoallv", SENDS_EACH | RECEIVES_EACH | LENGTHS},
    [ALLTOALLW] = {"alltoallw", SENDS_EACH | RECEIVES_EACH | LENGTHS},
    [REDUCE] = {"reduce", ROOTED | SUMS},
    [ALLREDUCE] = {"allreduce", SUMS},
    [REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", SUMS | SENDS_EACH},
    [REDUCE_SCATTER] = {"reduce_scatter", SUMS | SENDS_EACH | LENGTHS},
    [SCAN] = {"scan", SUMS | ONE_GROUP},
    [EXSCAN] = {"exscan", SUMS | ONE_GROUP},
    [NEIGHBOR_ALLGATHER] = {"neighbor_allgather", NEIGHBORS | ONE_GROUP | RECEIVES_EACH},
    [NEIGHBOR_ALLGATHERV] = {"neighbor_allgatherv", NEIGHBORS | ONE_GROUP | RECEIVES_EACH | LENGTHS},
    [NEIGHBOR_ALLTOALL] = {"neighbor_alltoall", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH},
    [NEIGHBOR_ALLTOALLV] = {"neighbor_alltoallv", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH | LENGTHS},
    [NEIGHBOR_ALLTOALLW] = {"neighbor_alltoallw", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH | LENGTHS},
    [HALO_MESSAGES] = {"halo_messages", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH | MESSAGES},
    [FIELD_ALLTOALLW] = {"field_alltoallw", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH | FIELD},
    [FIELD_MESSAGES] = {"field_messages", NEIGHBORS | ONE_GROUP | SENDS_EACH | RECEIVES_EACH | FIELD | MESSAGES},
    [PING_PONG] = {"pingpong", PAIR},
    [WINDOWED] = {"window", PAIR},
};

int from_counts[MAX_BLOCKS], from_places[MAX_BLOCKS], into_counts[MAX_BLOCKS], into_places[MAX_BLOCKS];
static int from_blocks, into_blocks, count, from_length, into_length;
static int from_bytes[MAX_BLOCKS], into_bytes[MAX_BLOCKS]; /* places, as alltoallw wants them */
static MPI_Datatype types[MAX_BLOCKS];

/* Elements of block `index`: all alike, or a half and three halves in turn, and the third empty. */
static int length(int index) {
    if (!point.uneven)
        return count;
    return index == 2 ? 0 : index % 2 == 0 ? count / 2 : 2 * count - count / 2;
}

static int places(int blocks, const int *counts, int *place) {
    int sum = 0;
    for (int k = 0; k < blocks; k++) {
        place[k] = sum;
        sum += counts[k];
    }
    return sum;
}

/* Lays the blocks of `point` out. What a rank sends is what its peer reckons with: lengths go by the index of the rank
   that the block is of, between two by the sum of both, to neighbours by the direction. */
void operations_prepare(void) {
    unsigned traits = point.operation->traits;
    bool send_each = traits & SENDS_EACH, receive_each = traits & RECEIVES_EACH, near = traits & NEIGHBORS;
    int peers = near ? DIRECTIONS : remote.size;
    count = (int)(point.bytes / (long)sizeof *from);
    from_blocks = send_each ? peers : 1;
    into_blocks = receive_each ? peers : 1;
    for (int k = 0; k < from_blocks; k++)
        from_counts[k] = length(near && send_each ? k : !send_each ? local_rank : receive_each ? local_rank + k : k);
    for (int k = 0; k < into_blocks; k++)
        into_counts[k] = length(near && send_each ? k ^ 1
                                : near            ? neighbors[k]
                                : !receive_each   ? local_rank
                                : send_each       ? local_rank + k
                                                  : k);
    from_length = places(from_blocks, from_counts, from_places);
    into_length = places(into_blocks, into_counts, into_places);
    for (int k = 0; k < MAX_BLOCKS; k++) {
        types[k] = MPI_DOUBLE;
        from_bytes[k] = from_places[k] * (int)sizeof *from;
        into_bytes[k] = into_places[k] * (int)sizeof *into;
    }
}

/* The rank in the group that the root is in, as the argument of a call: `root` is a rank in MPI_COMM_WORLD. */
static int root_argument(int root) {
    if (!inter)
        return root;
    if (root >= local.base && root < local.base + local.size)
        return root == rank ? MPI_ROOT : MPI_PROC_NULL;
    return root - remote.base;
}

int operation_begin(enum lifetime lifetime, int root, MPI_Request *request) {
    const MPI_Datatype type = MPI_DOUBLE;
    const MPI_Op sum = MPI_SUM;
    int at = point.operation->traits & ROOTED ? root_argument(root) : 0;
    switch (point.id) {
    case BARRIER: return CALL(Barrier, Ibarrier, comm);
    case BCAST: return CALL(Bcast, Ibcast, root == rank ? from : into, count, type, at, comm);
    case GATHER: return CALL(Gather, Igather, from, count, type, into, count, type, at, comm);
    case GATHERV:
        return CALL(Gatherv, Igatherv, from, *from_counts, type, into, into_counts, into_places, type, at, comm);
    case SCATTER: return CALL(Scatter, Iscatter, from, count, type, into, count, type, at, comm);
    case SCATTERV:
        return CALL(Scatterv, Iscatterv, from, from_counts, from_places, type, into, *into_counts, type, at, comm);
    case ALLGATHER: return CALL(Allgather, Iallgather, from, count, type, into, count, type, comm);
    case ALLGATHERV:
        return CALL(Allgatherv, Iallgatherv, from, *from_counts, type, into, into_counts, into_places, type, comm);
    case ALLTOALL: return CALL(Alltoall, Ialltoall, from, count, type, into, count, type, comm);
    case ALLTOALLV:
        return CALL(Alltoallv, Ialltoallv, from, from_counts, from_places, type, into, into_counts, into_places, type,
                    comm);
    case ALLTOALLW:
        return CALL(Alltoallw, Ialltoallw, from, from_counts, from_bytes, types, into, into_counts, into_bytes, types,
                    comm);
    case REDUCE: return CALL(Reduce, Ireduce, from, into, count, type, sum, at, comm);
    case ALLREDUCE: return CALL(Allreduce, Iallreduce, from, into, count, type, sum, comm);
    case REDUCE_SCATTER_BLOCK:
        return CALL(Reduce_scatter_block, Ireduce_scatter_block, from, into, count, type, sum, comm);
    case REDUCE_SCATTER: return CALL(Reduce_scatter, Ireduce_scatter, from, into, from_counts, type, sum, comm);
    case SCAN: return CALL(Scan, Iscan, from, into, count, type, sum, comm);
    case EXSCAN: return CALL(Exscan, Iexscan, from, into, count, type, sum, comm);
    default: return neighbors_begin(lifetime, request);
    }
}

double value(int source, int block, int batch, long index) {
    return source * 3 + block * 5 + batch % 7 + index % 11 + 1;
}

/* Puts what batch `batch` sends into place, and into the places for what it receives something else. */
void operation_fill(int batch) {
    if (point.operation->traits & FIELD) {
        field_fill(batch);
        return;
    }
    for (int k = 0; k < from_blocks; k++)
        for (long i = 0; i < from_counts[k]; i++)
            from[from_places[k] + i] = value(rank, k, batch, i);
    for (long i = 0; i < into_length; i++)
        into[i] = -1;
}

/* Whether the root of a rooted call sends, rather than receives. */
static bool from_root(void) {
    return point.id == BCAST || point.operation->traits & SENDS_EACH;
}

static bool is_in_my_group(int root) {
    return root >= local.base && root < local.base + local.size;
}

/* Whether this rank sends something in a call. */
static bool sends(int root) {
    if (!(point.operation->traits & ROOTED))
        return point.id != BARRIER;
    return from_root() ? root == rank : !inter || !is_in_my_group(root);
}

/* Whether this rank receives something in a call. */
static bool receives(int root) {
    if (!(point.operation->traits & ROOTED))
        return point.id != BARRIER && !(point.id == EXSCAN && rank == 0);
    if (!from_root())
        return root == rank;
    return inter ? !is_in_my_group(root) : point.id != BCAST || root != rank;
}

/* What programs do before a call. */
void operation_make(int root) {
    if (used && sends(root))
        data_made(from, from_length);
}

/* What programs do after a call. */
void operation_read(int root) {
    if (used && receives(root))
        data_read(into, into_length);
}

/* What element `index` of block `k` must be. */
static double expected(int k, int batch, int root, long index) {
    unsigned traits = point.operation->traits;
    int block = !(traits & SENDS_EACH) ? 0 : traits & NEIGHBORS ? k ^ 1 : local_rank;
    if (traits & SUMS) {
        double sum = 0;
        int end = point.id == SCAN ? rank + 1 : point.id == EXSCAN ? rank : remote.size;
        for (int source = 0; source < end; source++)
            sum += value(remote.base + source, block, batch, index);
        return sum;
    }
    int source = traits & NEIGHBORS ? neighbors[k] : traits & RECEIVES_EACH ? remote.base + k : root;
    return value(source, block, batch, index);
}

/* The number of elements of this rank that are not what they must be. */
long operation_wrong(int batch, int last_root) {
    if (point.operation->traits & FIELD)
        return field_wrong(batch);
    long wrong = 0;
    bool was_root = point.rotating && point.operation->traits & ROOTED && !from_root();
    if (was_root || receives(last_root))
        for (int k = 0; k < into_blocks; k++)
            for (long i = 0; i < into_counts[k]; i++)
                wrong += into[into_places[k] + i] != expected(k, batch, last_root, i);
    return wrong;
}
