/* Random sequences of collectives on several communicators, of all lifetimes, lengths and roots, many under
   way at once. MPI-5.0: Collective Communication, Nonblocking and Persistent Collective Operations. */
#include "check.h"
#include "random.h"

enum { OPERATIONS = 60, COMMS = 3, LONGEST = 20000, MOST = 8 };

typedef struct {
    MPI_Comm comm;
    int kind, lifetime, count, root, ranks, me;
    int *in, *out;
    MPI_Request request;
} Operation;

static int value(int round, int of_rank, int i) {
    return (round + 1) * (of_rank * 7 + 3) + i;
}

/* One call in the three lifetimes. */
#define START(op, blocking, nonblocking, ...)                                                       \
    do {                                                                                            \
        if ((op)->lifetime == 0)                                                                    \
            OK(blocking(__VA_ARGS__));                                                              \
        else if ((op)->lifetime == 1)                                                               \
            OK(nonblocking(__VA_ARGS__, &(op)->request));                                           \
        else                                                                                        \
            OK(blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &(op)->request));                        \
        if ((op)->lifetime == 2)                                                                    \
            OK(MPI_Start(&(op)->request));                                                          \
    } while (0)

static void start(Operation *it) {
    int n = it->count, *in = it->in, *out = it->out;
    switch (it->kind) {
    case 0:
        START(it, MPI_Allreduce, MPI_Iallreduce, in, out, n, MPI_INT, MPI_SUM, it->comm);
        break;
    case 1:
        START(it, MPI_Bcast, MPI_Ibcast, it->me == it->root ? in : out, n, MPI_INT, it->root, it->comm);
        break;
    case 2:
        START(it, MPI_Allgather, MPI_Iallgather, in, n, MPI_INT, out, n, MPI_INT, it->comm);
        break;
    case 3:
        START(it, MPI_Gather, MPI_Igather, in, n, MPI_INT, out, n, MPI_INT, it->root, it->comm);
        break;
    case 4:
        START(it, MPI_Reduce, MPI_Ireduce, in, out, n, MPI_INT, MPI_MAX, it->root, it->comm);
        break;
    case 5:
        START(it, MPI_Alltoall, MPI_Ialltoall, in, n, MPI_INT, out, n, MPI_INT, it->comm);
        break;
    case 6:
        START(it, MPI_Scatter, MPI_Iscatter, in, n, MPI_INT, out, n, MPI_INT, it->root, it->comm);
        break;
    default:
        START(it, MPI_Barrier, MPI_Ibarrier, it->comm);
    }
}

/* Whose value lies at `i` of block `block`, and where it came from. */
static int expected(const Operation *it, int round, int block, int i) {
    int sum = 0;
    switch (it->kind) {
    case 0:
        for (int r = 0; r < it->ranks; r++)
            sum += value(round, r, i);
        return sum;
    case 1:
        return value(round, it->root, i);
    case 4:
        return value(round, it->ranks - 1, i);
    case 5:
        return value(round, block, it->me * it->count + i);
    case 6:
        return value(round, it->root, it->me * it->count + i);
    default:
        return value(round, block, i);
    }
}

static void check(const Operation *it, int round) {
    int has_blocks = it->kind == 2 || it->kind == 3 || it->kind == 5;
    int is_rooted = it->kind == 3 || it->kind == 4;
    if (it->kind == 7 || (is_rooted && it->me != it->root) || (it->kind == 1 && it->me == it->root))
        return;
    for (int block = 0; block < (has_blocks ? it->ranks : 1); block++)
        for (int i = 0; i < it->count; i += 1 + i / 4)
            EQUAL(it->out[block * it->count + i], expected(it, round, block, i));
}

static void run(MPI_Comm *comms, Random *random, int round) {
    static Operation operations[OPERATIONS];
    for (int k = 0; k < OPERATIONS; k++) {
        Operation *it = &operations[k];
        *it = (Operation){.comm = comms[next(random, COMMS)], .kind = next(random, 8),
            .lifetime = next(random, 3), .count = next_length(random, LONGEST / MOST),
            .request = MPI_REQUEST_NULL};
        OK(MPI_Comm_size(it->comm, &it->ranks));
        OK(MPI_Comm_rank(it->comm, &it->me));
        it->root = next(random, MOST) % it->ranks;
        it->in = malloc(sizeof(int) * (size_t)(it->count * it->ranks + 1));
        it->out = calloc((size_t)(it->count * it->ranks + 1), sizeof(int));
        for (int i = 0; i < it->count * it->ranks; i++)
            it->in[i] = value(round, it->me, i);
        start(it);
    }
    for (int k = 0; k < OPERATIONS; k++) {
        Operation *it = &operations[(k * 37 + rank) % OPERATIONS];
        OK(MPI_Wait(&it->request, MPI_STATUS_IGNORE));
        check(it, round);
        if (it->request != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&it->request));
        free(it->in);
        free(it->out);
    }
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS] = {MPI_COMM_WORLD};
    Random random = {argc > 1 ? strtoull(argv[1], NULL, 10) : 7};
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]));
    for (int round = 0; round < 20; round++)
        run(comms, &random, round);
    OK(MPI_Comm_free(&comms[1]));
    OK(MPI_Comm_free(&comms[2]));
    return end();
}
