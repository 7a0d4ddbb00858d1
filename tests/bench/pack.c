/* How long MPI_Pack and MPI_Unpack take for layouts that programs use, beside loops written by hand.
 *
 * One process; runs with any MPI. Prints a line for each layout: its name, packed bytes, and nanoseconds of pack,
 * unpack, and the loop by hand that packs the same (0 where there is none), each the least of several batches:
 * whatever disturbs a batch makes it longer. compare.py runs it with several implementations in turn. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 25, MEMORY = 64 << 20, DIMENSION = 64 };
#define BATCH_NS 1e6

typedef void by_hand(char *packed, const char *memory);

static char *memory, *packed;

struct layout {
    const char *name;
    MPI_Datatype type;
    int count;
    by_hand *hand;
};

struct mixed {
    double a;
    int b;
    short c;
    char d;
    float e[3];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The number of blocks and their distance are known to a program, but hardly ever to its compiler. */
static volatile long blocks = 1000, far = 16;

static void hand_vector8(char *to, const char *from)
{
    long n = blocks, stride = 2;
    double *into = (double *)to;
    const double *values = (const double *)from;
    for (long i = 0; i < n; i++)
        into[i] = values[i * stride];
}

static void hand_column(char *to, const char *from)
{
    long n = blocks, stride = far;
    double *into = (double *)to;
    const double *values = (const double *)from;
    for (long i = 0; i < n; i++)
        into[i] = values[i * stride];
}

static void hand_large(char *to, const char *from)
{
    long n = 200 * blocks, stride = 2;
    double *into = (double *)to;
    const double *values = (const double *)from;
    for (long i = 0; i < n; i++)
        into[i] = values[i * stride];
}

static void hand_structs(char *to, const char *from)
{
    const struct mixed *mixed = (const struct mixed *)from;
    for (long i = 0, n = blocks; i < n; i++, to += 27) {
        memcpy(to, &mixed[i].a, 8);
        memcpy(to + 8, &mixed[i].b, 4);
        memcpy(to + 12, &mixed[i].c, 2);
        memcpy(to + 14, &mixed[i].d, 1);
        memcpy(to + 15, mixed[i].e, 12);
    }
}

static void hand_face(char *to, const char *from)
{
    double *into = (double *)to;
    const double *values = (const double *)from;
    long n = far / 16 * DIMENSION;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            *into++ = values[(i * DIMENSION + j) * DIMENSION];
}

static void do_pack(const struct layout *layout, int bytes)
{
    int position = 0;
    MPI_Pack(memory, layout->count, layout->type, packed, bytes, &position, MPI_COMM_SELF);
}

static void do_unpack(const struct layout *layout, int bytes)
{
    int position = 0;
    MPI_Unpack(packed, bytes, &position, memory, layout->count, layout->type, MPI_COMM_SELF);
}

static void do_hand(const struct layout *layout, int bytes)
{
    (void)bytes;
    layout->hand(packed, memory);
}

static double least(void (*what)(const struct layout *, int), const struct layout *layout, int bytes)
{
    double best = 1e18;
    long iterations = 1;
    for (int batch = 0; batch < BATCHES;) {
        double begin = now();
        for (long i = 0; i < iterations; i++)
            what(layout, bytes);
        double ns = now() - begin;
        if (ns < BATCH_NS && batch == 0) {
            iterations *= 2;
            continue;
        }
        best = ns / (double)iterations < best ? ns / (double)iterations : best;
        batch++;
    }
    return best;
}

static void measure(const struct layout *layout)
{
    MPI_Datatype type = layout->type;
    int bytes;
    MPI_Type_commit(&type);
    MPI_Pack_size(layout->count, type, MPI_COMM_SELF, &bytes);
    double pack = least(do_pack, layout, bytes);
    double unpack = least(do_unpack, layout, bytes);
    double hand = layout->hand ? least(do_hand, layout, bytes) : 0;
    printf("%-12s %9d %11.1f %11.1f %11.1f\n", layout->name, bytes, pack, unpack, hand);
    MPI_Type_free(&type);
}

static MPI_Datatype vector(int count, int length, int stride, MPI_Datatype old)
{
    MPI_Datatype type;
    MPI_Type_vector(count, length, stride, old, &type);
    return type;
}

static MPI_Datatype part(int dimensions, int whole, int x, int y, int z)
{
    MPI_Datatype type;
    int sizes[3] = {whole, whole, whole}, subsizes[3] = {x, y, z}, starts[3] = {0, 0, 0};
    MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype structs(void)
{
    MPI_Datatype type, resized, types[] = {MPI_DOUBLE, MPI_INT, MPI_SHORT, MPI_CHAR, MPI_FLOAT};
    int lengths[] = {1, 1, 1, 1, 3};
    MPI_Aint at[] = {offsetof(struct mixed, a), offsetof(struct mixed, b), offsetof(struct mixed, c),
                     offsetof(struct mixed, d), offsetof(struct mixed, e)};
    MPI_Type_create_struct(5, lengths, at, types, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct mixed), &resized);
    MPI_Type_free(&type);
    return resized;
}

/* Blocks at places that follow no rule, of one length or of several. */
static MPI_Datatype irregular(int several)
{
    enum { BLOCKS = 1000 };
    static int lengths[BLOCKS], at[BLOCKS];
    unsigned random = 1;
    for (int i = 0, place = 0; i < BLOCKS; i++) {
        random = random * 1103515245 + 12345;
        lengths[i] = several ? 1 + (int)(random >> 16) % 6 : 1;
        at[i] = place;
        place += lengths[i] + 1 + (int)(random >> 20) % 9;
    }
    MPI_Datatype type;
    MPI_Type_indexed(BLOCKS, lengths, at, MPI_DOUBLE, &type);
    return type;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    memory = malloc(MEMORY);
    packed = malloc(MEMORY);
    memset(memory, 1, MEMORY);
    memset(packed, 2, MEMORY);
    const struct layout layouts[] = {
        {"vector8", vector(1000, 1, 2, MPI_DOUBLE), 1, hand_vector8},
        {"vector4", vector(1000, 1, 2, MPI_INT), 1, NULL},
        {"vector24", vector(1000, 3, 5, MPI_DOUBLE), 1, NULL},
        {"vector1", vector(1000, 1, 3, MPI_CHAR), 1, NULL},
        {"column", vector(1000, 1, 16, MPI_DOUBLE), 1, hand_column},
        {"vector8-big", vector(200000, 1, 2, MPI_DOUBLE), 1, hand_large},
        {"pairs", vector(2, 1, 2, MPI_DOUBLE), 1000, NULL},
        {"block2d", part(2, 200, 100, 100, 0), 1, NULL},
        {"narrow2d", part(2, 200, 100, 4, 0), 1, NULL},
        {"face3d-x", part(3, DIMENSION, DIMENSION, DIMENSION, 1), 1, hand_face},
        {"face3d-y", part(3, DIMENSION, DIMENSION, 1, DIMENSION), 1, NULL},
        {"halo3d-x", part(3, DIMENSION, DIMENSION, DIMENSION, 2), 1, NULL},
        {"block3d", part(3, DIMENSION, 32, 32, 32), 1, NULL},
        {"structs", structs(), 1000, hand_structs},
        {"indexed8", irregular(0), 1, NULL},
        {"indexed", irregular(1), 1, NULL},
        {"one-double", vector(1, 1, 1, MPI_DOUBLE), 1, NULL},
        {"four8", vector(4, 1, 2, MPI_DOUBLE), 1, NULL},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        measure(&layouts[i]);
    free(memory);
    free(packed);
    MPI_Finalize();
    return 0;
}
