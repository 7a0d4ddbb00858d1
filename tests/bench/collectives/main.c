/* What every collective costs, in its three lifetimes: blocking, nonblocking and waited for, persistent (made once,
   then started and waited for); within a group and between two; with one root and with a root that moves; with blocks of one
   length and of many; and an exchange with the neighbours in a grid beside the same by messages.

   Any MPI of version 4 compiles and runs it: mpicc -O2 *.c -o collectives. Rank 0 prints a line of JSON for each point.
   "bytes" is the whole vector of bcast, reduce, allreduce, scan and exscan, and a block of the others, a multiple of 8.

     --ops A,B        of those that `operations.c` lists (default: all)
     --modes A,B      of blocking,nonblocking,persistent
     --roots A,B      of fixed,rotating: rank 0, or another in each iteration
     --blocks A,B     of equal,uneven, for operations that take lengths: all as long as told, or 1/2, 3/2, 0, 3/2 of it
     --sizes A,B      bytes; 64K and 1M are understood
     --skip A,B       operation/mode, or with /root/blocks/bytes behind it
     --inter          between the two halves of the ranks
     --alloc-mem      buffers of MPI_Alloc_mem rather than of malloc
     --used           whoever sends writes all of it before the call, whoever receives reads all of it after it
     --check          look at the data of a few iterations rather than at the clock
     --batches N --batch-ms X --point-ms X
     --offset N       bytes from the beginning of a page to a buffer (default 16, where long ones of `malloc` lie) */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIZES 32
/* The longest side of a field: its memory grows with the square. */
#define FIELD_BYTES (8 << 10)

struct point point;
struct side local, remote;
int rank, size, local_rank;
bool inter;
MPI_Comm comm;
double *from, *into;

static const char *ops = "all", *modes = "all", *roots = "all", *blocks = "all", *skip = "";
static long sizes[MOST_SIZES], offset = 16;
static int size_count;
static bool alloc_mem;

static void fail(const char *what, const char *which) {
    if (rank == 0)
        fprintf(stderr, "collectives: %s %s\n", what, which);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static bool listed(const char *list, const char *name) {
    size_t length = strlen(name);
    if (!strcmp(list, "all"))
        return true;
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static void parse_sizes(const char *text) {
    size_count = 0;
    for (const char *at = text; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char *end;
        long bytes = strtol(at, &end, 10);
        bytes *= *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : 1;
        if (bytes < 8 || bytes % 8 || size_count == MOST_SIZES)
            fail("cannot measure", at);
        sizes[size_count++] = bytes;
    }
}

static void parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        bool *flag = !strcmp(option, "--inter")       ? &inter
                     : !strcmp(option, "--check")     ? &check
                     : !strcmp(option, "--alloc-mem") ? &alloc_mem
                     : !strcmp(option, "--used")      ? &used
                                                      : NULL;
        if (flag) {
            *flag = true;
            continue;
        }
        if (++i == argc)
            fail("option without a value:", option);
        const char *text = argv[i];
        if (!strcmp(option, "--ops")) ops = text;
        else if (!strcmp(option, "--modes")) modes = text;
        else if (!strcmp(option, "--roots")) roots = text;
        else if (!strcmp(option, "--blocks")) blocks = text;
        else if (!strcmp(option, "--skip")) skip = text;
        else if (!strcmp(option, "--sizes")) parse_sizes(text);
        else if (!strcmp(option, "--batches")) batches = atoi(text);
        else if (!strcmp(option, "--batch-ms")) batch_ms = atof(text);
        else if (!strcmp(option, "--point-ms")) point_ms = atof(text);
        else if (!strcmp(option, "--offset")) offset = atol(text);
        else fail("unknown option", option);
    }
}

/* The communicator that is measured on: the world, or its first half against its second. */
static void make_groups(void) {
    local = remote = (struct side){size, 0};
    local_rank = rank;
    comm = MPI_COMM_WORLD;
    if (inter) {
        MPI_Comm half;
        bool first = rank < size / 2;
        if (size % 2)
            fail("needs an even number of ranks:", "--inter");
        local = (struct side){size / 2, first ? 0 : size / 2};
        remote = (struct side){size / 2, first ? size / 2 : 0};
        MPI_Comm_split(MPI_COMM_WORLD, first, rank, &half);
        MPI_Comm_rank(half, &local_rank);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, remote.base, 1, &comm);
        MPI_Comm_free(&half);
    }
    grid_create();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
}

/* `offset` bytes behind the beginning of a page, and where to give it back. */
static double *allocate(size_t bytes, char **whole) {
    void *at = NULL;
    if (alloc_mem ? MPI_Alloc_mem((MPI_Aint)bytes + 4096, MPI_INFO_NULL, &at) : posix_memalign(&at, 4096, bytes + 4096))
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(at, 0, bytes + 4096);
    *whole = at;
    return (double *)(*whole + ((4096 - (uintptr_t)at % 4096) % 4096) + offset % 4096);
}

static void release(char *whole) {
    if (alloc_mem)
        MPI_Free_mem(whole);
    else
        free(whole);
}

/* Whether what `--skip` names is this point: the beginning of its label up to a slash, or all of it. */
static bool skipped(const char *mode, const char *root, const char *block) {
    char label[128];
    snprintf(label, sizeof label, "%s/%s/%s/%s/%ld", point.operation->name, mode, root, block, point.bytes);
    for (char *end = label + strlen(label); end; end = strrchr(label, '/')) {
        *end = 0;
        if (listed(skip, label))
            return true;
    }
    return false;
}

/* The points of one operation, root and kind of blocks. */
static void run(bool rotating, bool uneven) {
    static const char *const names[LIFETIMES] = {"blocking", "nonblocking", "persistent"};
    unsigned traits = operations[point.id].traits;
    const char *root = rotating ? "rotating" : "fixed", *block = uneven ? "uneven" : "equal";
    if ((traits & ROOTED && !listed(roots, root)) || (traits & LENGTHS && !listed(blocks, block)))
        return;
    for (int s = 0; s < size_count && !(point.id == BARRIER && s > 0); s++)
        for (int mode = 0; mode < LIFETIMES; mode++) {
            point = (struct point){point.id, &operations[point.id], mode, rotating, uneven, sizes[s]};
            bool fits = !(traits & FIELD) || sizes[s] <= FIELD_BYTES;
            if (fits && listed(modes, names[mode]) && !skipped(names[mode], traits & ROOTED ? root : "none", block))
                measure();
        }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    parse_sizes("8,1K,64K,1M");
    parse(argc, argv);
    make_groups();
    long longest = 0;
    for (int s = 0; s < size_count; s++)
        longest = sizes[s] > longest ? sizes[s] : longest;
    /* Uneven blocks are up to twice as long as told. */
    size_t room = 2 * (size_t)longest * (size_t)(size > DIRECTIONS ? size : DIRECTIONS), pair = pairs_room(longest);
    char *sent, *received;
    from = allocate(room > pair ? room : pair, &sent);
    into = allocate(room > pair ? room : pair, &received);
    line_open();
    for (int id = 0; id < OPERATIONS; id++) {
        unsigned traits = operations[id].traits;
        if (!listed(ops, operations[id].name) || (inter && traits & ONE_GROUP))
            continue;
        for (int rotating = 0; rotating <= !!(traits & ROOTED); rotating++)
            for (int uneven = 0; uneven <= !!(traits & LENGTHS); uneven++) {
                point.id = id;
                run(rotating, uneven);
            }
    }
    release(sent);
    release(received);
    MPI_Comm_free(&grid);
    if (inter)
        MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
