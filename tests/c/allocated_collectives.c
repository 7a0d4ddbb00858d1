/* Collectives from and into memory of MPI_Alloc_mem, in every lifetime: at any places in it, in place, beside ranks
   whose memory is their own, and with buffers that are overwritten as soon as the call has returned.
   MPI-5.0: MPI Environmental Management, Memory Allocation; Collective Communication. */
#include "check.h"
#include "random.h"

enum { MOST = 8, LONGEST = 150000, ROUNDS = 90, KINDS = 10, PLACES = 3 };

/* One operation, of `count` elements for each block, with its buffers. */
typedef struct { int kind, in_place, count, root, *in, *out; MPI_Request request; } Operation;

static int *mine[4]; /* two of MPI's, and two that are not */
static int me, ranks;
static MPI_Comm comm;

static int value(int round, int of, int i) {
    return round * 1009 + of * 7919 + i % 4099;
}

/* One call: blocking, nonblocking or persistent. */
#define CALL(blocking, nonblocking, ...)                                                            \
    do {                                                                                            \
        if (lifetime == 0)                                                                          \
            OK(blocking(__VA_ARGS__));                                                              \
        else if (lifetime == 1)                                                                     \
            OK(nonblocking(__VA_ARGS__, &it->request));                                             \
        else                                                                                        \
            OK(blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &it->request));                          \
    } while (0)

static void call(Operation *it, int lifetime) {
    int n = it->count, root = it->root, is_root = me == root;
    int *in = it->in_place ? MPI_IN_PLACE : it->in, *out = it->out;
    int *root_in = is_root ? in : it->in;
    switch (it->kind) {
    case 0: CALL(MPI_Bcast, MPI_Ibcast, out, n, MPI_INT, root, comm); break;
    case 1: CALL(MPI_Allreduce, MPI_Iallreduce, in, out, n, MPI_INT, MPI_SUM, comm); break;
    case 2: CALL(MPI_Allgather, MPI_Iallgather, in, n, MPI_INT, out, n, MPI_INT, comm); break;
    case 3: CALL(MPI_Alltoall, MPI_Ialltoall, in, n, MPI_INT, out, n, MPI_INT, comm); break;
    case 4: CALL(MPI_Gather, MPI_Igather, root_in, n, MPI_INT, out, n, MPI_INT, root, comm); break;
    case 5: CALL(MPI_Reduce, MPI_Ireduce, root_in, out, n, MPI_INT, MPI_SUM, root, comm); break;
    case 6: CALL(MPI_Scatter, MPI_Iscatter, it->in, n, MPI_INT, it->in_place && is_root ? MPI_IN_PLACE : out, n,
                 MPI_INT, root, comm); break;
    case 7: CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, comm); break;
    case 8: CALL(MPI_Scan, MPI_Iscan, in, out, n, MPI_INT, MPI_SUM, comm); break;
    default: CALL(MPI_Exscan, MPI_Iexscan, in, out, n, MPI_INT, MPI_SUM, comm);
    }
}

static int has_blocks(int kind) {
    return kind == 3 || kind == 6 || kind == 7;
}

/* Blocks of the result. */
static int gathers(int kind) {
    return kind == 2 || kind == 3 || kind == 4;
}

static int is_rooted(int kind) {
    return kind == 4 || kind == 5;
}

static void fill(Operation *it, int round) {
    int n = it->count, length = n * (has_blocks(it->kind) ? ranks : 1);
    int *from = it->in;
    if (it->kind == 0)
        from = it->out;
    else if (it->in_place && it->kind != 6 && (!is_rooted(it->kind) || me == it->root))
        from = it->out + (it->kind == 2 || it->kind == 4 ? me * n : 0);
    for (int i = 0; i < length; i++)
        from[i] = it->kind == 0 && me != it->root ? -1 : value(round, me, i);
}

static int sum(int round, int upto, int i) {
    int all = 0;
    for (int of = 0; of < upto; of++)
        all += value(round, of, i);
    return all;
}

static int expected(Operation *it, int round, int block, int i) {
    int n = it->count;
    switch (it->kind) {
    case 0: return value(round, it->root, i);
    case 1: case 5: return sum(round, ranks, i);
    case 2: case 4: return value(round, block, i);
    case 3: return value(round, block, me * n + i);
    case 6: return value(round, it->root, me * n + i);
    case 7: return sum(round, ranks, me * n + i);
    case 8: return sum(round, me + 1, i);
    default: return sum(round, me, i);
    }
}

/* Looks at the result, and spoils all buffers at once: nobody may read them any more. */
static void verify(Operation *it, int round) {
    int n = it->count, blocks = gathers(it->kind) ? ranks : 1, length = n * (has_blocks(it->kind) ? ranks : 1);
    int has_result = (!is_rooted(it->kind) || me == it->root) && (it->kind != 9 || me > 0);
    has_result &= !(it->kind == 6 && it->in_place && me == it->root);
    for (int i = 0; has_result && i < blocks * n; i++)
        CHECK(it->out[i] == expected(it, round, i / n, i % n), "element %d of %d, kind %d, round %d: %d", i, n,
              it->kind, round, it->out[i]);
    memset(it->in, 0xEE, sizeof(int) * (size_t)length);
    memset(it->out, 0xEE, sizeof(int) * (size_t)(n * blocks));
}

static Operation draw(Random *random, Random *own) {
    static const int counts[] = {4096, 4097, 5000, 16384, 20001, 65536, 70003, 149999};
    int kind = next(random, KINDS), in_place = kind != 0 && next(random, 3) == 0, count = counts[next(random, 8)];
    Operation it = {kind, in_place, count, next(random, ranks), NULL, NULL, MPI_REQUEST_NULL};
    int blocks = has_blocks(kind) || gathers(kind) ? ranks : 1, room = LONGEST * ranks - blocks * count;
    it.in = mine[2 * next(own, 2)] + (next(own, 2) ? room : next(own, room));
    it.out = mine[1 + 2 * next(own, 2)] + (next(own, 2) ? room : next(own, room));
    return it;
}

static void run(Random *random, Random *own) {
    for (int round = 0; round < ROUNDS; round++) {
        Operation it = draw(random, own);
        int lifetime = next(random, 3);
        fill(&it, round);
        call(&it, lifetime);
        if (lifetime == 1)
            OK(MPI_Wait(&it.request, MPI_STATUS_IGNORE));
        for (int start = 0; lifetime == 2 && start < 3; start++) {
            fill(&it, round + start);
            OK(MPI_Start(&it.request));
            OK(MPI_Wait(&it.request, MPI_STATUS_IGNORE));
            verify(&it, round + start);
        }
        if (lifetime == 2)
            OK(MPI_Request_free(&it.request));
        else
            verify(&it, round);
    }
}

/* Several nonblocking ones under way, completed in another order on each rank. */
static void at_once(Random *random) {
    Operation all[PLACES];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < PLACES; i++) {
            int count = LONGEST / PLACES - 10 - next(random, 1000);
            all[i] = (Operation){1 + next(random, 3), 0, count / ranks, 0, mine[0] + i * ranks * LONGEST / PLACES,
                                 mine[1] + i * ranks * LONGEST / PLACES, MPI_REQUEST_NULL};
            fill(&all[i], round + i);
            call(&all[i], 1);
        }
        for (int i = 0; i < PLACES; i++) {
            Operation *it = &all[(i + me) % PLACES];
            OK(MPI_Wait(&it->request, MPI_STATUS_IGNORE));
            verify(it, round + (int)(it - all));
        }
    }
}

static void test(MPI_Comm on, int seed) {
    comm = on;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks);
    size_t bytes = sizeof(int) * LONGEST * (size_t)ranks;
    for (int life = 0; life < 2; life++) {
        for (int i = 0; i < 4; i++) {
            if (i < 2)
                OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &mine[i]));
            else
                mine[i] = malloc(bytes);
            memset(mine[i], 0xEE, bytes);
        }
        Random random = {(unsigned long long)(seed + life)}, own = {(unsigned long long)(seed + life + 100 * me)};
        run(&random, &own);
        at_once(&random);
        for (int i = 0; i < 4; i++) {
            if (i < 2)
                OK(MPI_Free_mem(mine[i]));
            else
                free(mine[i]);
        }
    }
}

int main(int argc, char **argv) {
    MPI_Comm reversed;
    begin(&argc, &argv);
    test(MPI_COMM_WORLD, 1);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &reversed));
    test(reversed, 2);
    OK(MPI_Comm_free(&reversed));
    return end();
}
