/* What a message in partitions costs between two ranks: partitioned THREADS MILLISECONDS, run by partitioned.py.

   A round is: both ranks start a send and a receive of the other's, THREADS threads mark as many of the send's
   partitions each, and both are completed. Rank 0 prints lines "partitions bytes ns", where `bytes` is the length of a
   partition, and the time is the least of the batches' mean time of a round; 0 partitions is a persistent send and
   receive of that length, marked by nobody. With one thread that is the one which initialises, below
   MPI_THREAD_MULTIPLE; of two the other one waits for its turn without a pause, but offers its processor. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 8, BATCHES = 10, FIRST = 20, LOOKS = 200, MOST_BYTES = 64 << 20 };

static int rank, threads, partitions;
static MPI_Request requests[2];
static pthread_t others[MOST_THREADS];
/* Rounds begun for the other threads, or -1 at the end. */
static atomic_long begun;

/* When the last one is marked the other thread may go on to other requests. */
static void mark(int thread) {
    int first = partitions * thread / threads, end = partitions * (thread + 1) / threads;
    MPI_Request request = requests[0];
    for (int p = first; p < end; p++)
        MPI_Pready(p, request);
}

static void *mark_when_told(void *argument) {
    for (long seen = 0, now; seen >= 0; seen = now) {
        for (int looks = 0; (now = atomic_load_explicit(&begun, memory_order_acquire)) == seen; looks++)
            if (looks > LOOKS)
                sched_yield();
        if (now > 0)
            mark((int)(long)argument);
    }
    return NULL;
}

static double batch(int rounds) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Startall(2, requests);
        if (threads > 1)
            atomic_fetch_add_explicit(&begun, 1, memory_order_release);
        mark(0);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return (MPI_Wtime() - begin) / rounds;
}

static void measure(int bytes, double budget_s, char *out, char *in) {
    if (partitions > 0) {
        MPI_Psend_init(out, partitions, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(in, partitions, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    } else {
        MPI_Send_init(out, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(in, bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, &requests[1]);
    }
    double least = batch(FIRST), wanted = budget_s / BATCHES / least;
    int rounds = wanted < 2 ? 2 : wanted > 1e7 ? 10000000 : (int)wanted;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BATCHES; i++) {
        double time = batch(rounds);
        if (time < least)
            least = time;
    }
    if (rank == 0)
        printf("%d %d %.1f\n", partitions, bytes, least * 1e9), fflush(stdout);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 8, 64}, lengths[] = {8, 1024, 32768, 1048576};
    threads = argc > 1 ? atoi(argv[1]) : 1;
    double budget_s = (argc > 2 ? atof(argv[2]) : 100) / 1000;
    int provided, level = threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, level, &provided);
    if (provided < level || threads < 1 || threads > MOST_THREADS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *out = malloc(MOST_BYTES), *in = malloc(MOST_BYTES);
    memset(out, 1, MOST_BYTES);
    memset(in, 1, MOST_BYTES);
    for (long i = 1; i < threads; i++)
        pthread_create(&others[i], NULL, mark_when_told, (void *)i);
    for (size_t count = 0; count < sizeof counts / sizeof *counts; count++)
        for (size_t length = 0; length < sizeof lengths / sizeof *lengths; length++) {
            partitions = counts[count];
            /* What one thread marks is no matter of threads. */
            if (threads == 1 || partitions >= threads)
                measure(lengths[length], budget_s, out, in);
        }
    atomic_store(&begun, -1);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
