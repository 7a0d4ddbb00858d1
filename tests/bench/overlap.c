/* How much of a long operation goes on while one rank computes: overlap [ROUNDS [TIMES]], run by overlap.py.

   Rank 0 starts an operation, computes for about TIMES as long as the operation takes, and completes it; the other ranks
   wait in it from the start. Rank 0 prints lines "operation bytes hidden alone computed both": the part of the
   operation's time that is not added to that of the computation, and the medians of what each takes alone and of both,
   in microseconds. The computation is a fixed amount of work: a processor that is taken away counts. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20, MOST_ROUNDS = 1000 };

typedef struct {
    const char *name;
    void (*start)(int bytes, MPI_Request *request);
    void (*init)(int bytes, MPI_Request *request);
} Operation;

static int rank, rounds, times_as_long;
static char *sent, *received;
static double steps_per_second;

static void isend(int bytes, MPI_Request *request) {
    if (rank == 0)
        MPI_Isend(sent, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, request);
    else if (rank == 1)
        MPI_Irecv(received, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, request);
}

static void irecv(int bytes, MPI_Request *request) {
    if (rank == 0)
        MPI_Irecv(received, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, request);
    else if (rank == 1)
        MPI_Isend(sent, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, request);
}

static void ibcast(int bytes, MPI_Request *request) {
    MPI_Ibcast(sent, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, request);
}

static void iallreduce(int bytes, MPI_Request *request) {
    MPI_Iallreduce(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void bcast_init(int bytes, MPI_Request *request) {
    MPI_Bcast_init(sent, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static void allreduce_init(int bytes, MPI_Request *request) {
    MPI_Allreduce_init(sent, received, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static const Operation OPERATIONS[] = {
    {"isend", isend, NULL},           {"irecv", irecv, NULL},           {"ibcast", ibcast, NULL},
    {"iallreduce", iallreduce, NULL}, {"bcast_init", NULL, bcast_init}, {"allreduce_init", NULL, allreduce_init},
};

static volatile double sink = 2.0;

/* Work that stays in registers. */
static void compute(double steps) {
    double x = sink; /* nobody knows it before */
    for (long step = 0; step < (long)steps; step++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *times, int count) {
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

/* The median time of rank 0 for an operation with so much work in between, in seconds. */
static double take(const Operation *operation, int bytes, double steps) {
    static double times[MOST_ROUNDS];
    MPI_Request request = MPI_REQUEST_NULL;
    if (operation->init != NULL)
        operation->init(bytes, &request);
    for (int round = 0; round < rounds; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = MPI_Wtime();
        if (operation->init != NULL)
            MPI_Start(&request);
        else
            operation->start(bytes, &request);
        if (rank == 0 && steps > 0)
            compute(steps);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        times[round] = MPI_Wtime() - begin;
    }
    if (operation->init != NULL)
        MPI_Request_free(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    return median(times, rounds);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rounds = argc > 1 ? atoi(argv[1]) : 31;
    rounds = rounds < 3 ? 3 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    times_as_long = argc > 2 ? atoi(argv[2]) : 4;
    sent = malloc(MOST_BYTES);
    received = malloc(MOST_BYTES);
    memset(sent, 0, MOST_BYTES);
    memset(received, 0, MOST_BYTES);
    for (int trial = 0; trial < 20; trial++) {
        double begin = MPI_Wtime();
        compute(1e6);
        double speed = 1e6 / (MPI_Wtime() - begin);
        steps_per_second = speed > steps_per_second ? speed : steps_per_second;
    }
    for (size_t at = 0; at < sizeof OPERATIONS / sizeof *OPERATIONS; at++)
        for (int bytes = 1 << 20; bytes <= MOST_BYTES; bytes *= 16) {
            const Operation *operation = &OPERATIONS[at];
            double alone = take(operation, bytes, 0), computed[5];
            MPI_Bcast(&alone, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            double steps = times_as_long * alone * steps_per_second;
            for (int trial = 0; trial < 5; trial++) {
                double begin = MPI_Wtime();
                compute(rank == 0 ? steps : 0);
                computed[trial] = MPI_Wtime() - begin;
            }
            double work = median(computed, 5), both = take(operation, bytes, steps);
            double hidden = (alone + work - both) / alone;
            if (rank == 0)
                printf("%s %d %.3f %.1f %.1f %.1f\n", operation->name, bytes, hidden, alone * 1e6, work * 1e6, both * 1e6);
            fflush(stdout);
        }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
