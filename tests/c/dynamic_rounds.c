/* Two jobs meet again and again, use every collective between them in every lifetime, spawn a third together, merge with
   it, and part; all in constant memory: `--serve NAME ROUNDS`, `--visit NAME ROUNDS`.
   MPI-5.0: Process Initialization, Creation, and Management; Collective Communication. */
#include <unistd.h>

#include "held.h"
#include "lifetimes.h"
#include "spawned.h"

enum { MOST = 8, ELEMENTS = 4 * MOST * MOST, CHILDREN = 2 };

static MPI_Comm inter;
static int is_server, others;
static int out[ELEMENTS], in[ELEMENTS];
static int counts[MOST], displs[MOST], byte_displs[MOST];
static MPI_Datatype types[MOST];

static int value(int side, int of, int element, int round) {
    return side * 1000000 + of * 10000 + element * 10 + round;
}

static void prepare(int round) {
    for (int i = 0; i < ELEMENTS; i++) {
        out[i] = value(is_server, rank, i, round);
        in[i] = -1;
    }
}

static void prepare_bcast(int round) {
    prepare(round);
    if (is_server)
        memcpy(in, out, sizeof in);
}

static int is_root(void) {
    return is_server && rank == 0;
}

static void nothing(int round) {
    (void)round;
}

/* Each of `of` others has sent `count` elements from `begin` on, which lie `stride` apart. */
static void check_blocks(int of, int count, int begin, int stride, int round) {
    for (int r = 0; r < of; r++)
        for (int i = 0; i < count; i++)
            EQUAL(in[r * stride + i], value(!is_server, r, begin + i, round));
}

static void check_bcast(int round) {
    if (!is_server)
        check_blocks(1, 3, 0, 3, round);
}

static void check_gather(int round) {
    if (is_root())
        check_blocks(others, 2, 0, 2, round);
}

static void check_gatherv(int round) {
    for (int r = 0; is_root() && r < others; r++)
        for (int i = 0; i < r % 3; i++)
            EQUAL(in[3 * r + i], value(0, r, i, round));
}

static void check_scatter(int round) {
    if (!is_server)
        check_blocks(1, 2, 2 * rank, 2, round);
}

static void check_scatterv(int round) {
    if (!is_server)
        check_blocks(1, rank % 3, 3 * rank, 2, round);
}

static void check_allgather(int round) {
    check_blocks(others, 2, 0, 2, round);
}

static void check_allgatherv(int round) {
    for (int r = 0; r < others; r++)
        for (int i = 0; i < r % 3; i++)
            EQUAL(in[3 * r + i], value(!is_server, r, i, round));
}

static void check_alltoall(int round) {
    check_blocks(others, 2, 2 * rank, 2, round);
}

static void check_alltoallv(int round) {
    check_blocks(others, 2, 3 * rank, 3, round);
}

/* The sum of the others' elements from `begin` on. */
static void check_sum(int count, int begin, int round) {
    for (int i = 0; i < count; i++) {
        int sum = 0;
        for (int r = 0; r < others; r++)
            sum += value(!is_server, r, begin + i, round);
        EQUAL(in[i], sum);
    }
}

static void check_reduce(int round) {
    if (is_root())
        check_sum(5, 0, round);
}

static void check_allreduce(int round) {
    check_sum(5, 0, round);
}

static void check_reduce_scatter(int round) {
    check_sum(2 * others, 2 * others * rank, round);
}

#define ALL(prepare, verify, name, ...)                                                             \
    IN_THREE_LIFETIMES(prepare, verify, MPI_##name, MPI_I##name, MPI_##name##_init, __VA_ARGS__)
/* The nonblocking names have a small first letter. */
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block

static void use_every_collective(void) {
    int root = !is_server ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    int twos[MOST], equal[MOST];
    OK(MPI_Comm_remote_size(inter, &others));
    CHECK(others <= MOST && size <= MOST, "the test has room for fewer");
    for (int r = 0; r < MOST; r++) {
        counts[r] = r % 3, twos[r] = 2, displs[r] = 3 * r, byte_displs[r] = 3 * r * (int)sizeof(int);
        types[r] = MPI_INT, equal[r] = 2 * others;
    }
    ALL(nothing, nothing, Barrier, inter);
    ALL(prepare_bcast, check_bcast, Bcast, in, 3, MPI_INT, root, inter);
    ALL(prepare, check_gather, Gather, out, 2, MPI_INT, in, 2, MPI_INT, root, inter);
    ALL(prepare, check_gatherv, Gatherv, out, rank % 3, MPI_INT, in, counts, displs, MPI_INT, root, inter);
    ALL(prepare, check_scatter, Scatter, out, 2, MPI_INT, in, 2, MPI_INT, root, inter);
    ALL(prepare, check_scatterv, Scatterv, out, counts, displs, MPI_INT, in, rank % 3, MPI_INT, root, inter);
    ALL(prepare, check_allgather, Allgather, out, 2, MPI_INT, in, 2, MPI_INT, inter);
    ALL(prepare, check_allgatherv, Allgatherv, out, rank % 3, MPI_INT, in, counts, displs, MPI_INT, inter);
    ALL(prepare, check_alltoall, Alltoall, out, 2, MPI_INT, in, 2, MPI_INT, inter);
    ALL(prepare, check_alltoallv, Alltoallv, out, twos, displs, MPI_INT, in, twos, displs, MPI_INT, inter);
    ALL(prepare, check_alltoallv, Alltoallw, out, twos, byte_displs, types, in, twos, byte_displs, types, inter);
    ALL(prepare, check_reduce, Reduce, out, in, 5, MPI_INT, MPI_SUM, root, inter);
    ALL(prepare, check_allreduce, Allreduce, out, in, 5, MPI_INT, MPI_SUM, inter);
    ALL(prepare, check_reduce_scatter, Reduce_scatter, out, in, equal, MPI_INT, MPI_SUM, inter);
    ALL(prepare, check_reduce_scatter, Reduce_scatter_block, out, in, 2 * others, MPI_INT, MPI_SUM, inter);
}

/* The jobs of `here` and the one that is `between` it and another become one, in which all are counted. */
static void count_all(MPI_Comm between, int high) {
    MPI_Comm merged;
    int one = 1, all, found;
    OK(MPI_Intercomm_merge(between, high, &merged));
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(merged, &found));
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, merged));
    EQUAL(all, found);
    OK(MPI_Comm_disconnect(&merged));
}

static void spawn_together(char *program, int round) {
    char *arguments[] = {"--as", "third", NULL};
    MPI_Comm merged, third;
    int all;
    OK(MPI_Intercomm_merge(inter, is_server, &merged));
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(merged, &all));
    OK(MPI_Comm_spawn(program, arguments, CHILDREN, MPI_INFO_NULL, round % all, merged, &third, MPI_ERRCODES_IGNORE));
    greet_all(third, 1);
    count_all(third, 0);
    OK(MPI_Comm_disconnect(&third));
    OK(MPI_Comm_disconnect(&merged));
}

int main(int argc, char **argv) {
    char port[MPI_MAX_PORT_NAME] = "", launcher[16];
    Held before = {0, 0, 0}, before_there = {0, 0, 0};
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    if (parent != MPI_COMM_NULL) {
        greet_all(parent, 1);
        count_all(parent, 1);
        return leave_parent();
    }
    CHECK(argc == 4, "there are three arguments");
    is_server = strcmp(argv[1], "--serve") == 0;
    int rounds = atoi(argv[3]), settled = rounds / 4;
    snprintf(launcher, sizeof launcher, "%d", (int)getppid());
    if (rank == 0 && is_server) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
    }
    while (rank == 0 && !is_server && class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port)) != MPI_SUCCESS)
        usleep(1000);
    for (int round = 0; round < rounds; round++) {
        if (is_server)
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        else
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        use_every_collective();
        spawn_together(argv[0], round);
        OK(MPI_Comm_disconnect(&inter));
        if (round == settled) {
            before = held_by("self");
            before_there = held_by(launcher);
        }
    }
    check_held("self", before);
    if (rank == 0 && getppid() == atoi(launcher))
        check_held(launcher, before_there);
    if (rank == 0 && is_server) {
        OK(MPI_Unpublish_name(argv[2], MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    return end();
}
