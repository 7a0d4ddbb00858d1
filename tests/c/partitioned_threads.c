/* Threads mark the partitions of several sends at the same time, while others ask what has arrived and one waits; none
   has to call anything else for what is marked to arrive. MPI-5.0: Partitioned Point-to-Point Communication, Partition
   Communication with Threads/Tasks. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, REQUESTS = 3, ROUNDS = 30, COUNT = 24 };

static const int partitions[REQUESTS] = {THREADS, 40, 1000};
static int *out[REQUESTS], *in[REQUESTS];
static MPI_Request sends[REQUESTS], receives[REQUESTS];
static pthread_barrier_t together;
static int left;

static int value(int from, int request, int round, int place) {
    return from * 10000000 + request * 1000000 + round * 10000 + place % 9973;
}

static void produce(int thread, int round) {
    for (int r = 0; r < REQUESTS; r++)
        for (int p = thread; p < partitions[r]; p += THREADS) {
            for (int i = p * COUNT; i < (p + 1) * COUNT; i++)
                out[r][i] = value(rank, r, round, i);
            OK(MPI_Pready(p, sends[r]));
        }
}

static void consume(int thread, int round) {
    for (int r = 0; r < REQUESTS; r++)
        for (int p = thread; p < partitions[r]; p += THREADS) {
            int flag = 0;
            while (!flag)
                OK(MPI_Parrived(receives[r], p, &flag));
            for (int i = p * COUNT; i < (p + 1) * COUNT; i++)
                EQUAL(in[r][i], value(left, r, round, i));
        }
}

static void *work(void *argument) {
    int thread = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        if (thread == 0) {
            OK(MPI_Startall(REQUESTS, receives));
            OK(MPI_Startall(REQUESTS, sends));
        }
        pthread_barrier_wait(&together);
        produce(thread, round);
        /* In every third round one waits for all while the others still look. */
        if (thread == 0 && round % 3 == 0)
            OK(MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE));
        consume(thread, round);
        pthread_barrier_wait(&together);
        if (thread == 0) {
            OK(MPI_Waitall(REQUESTS, sends, MPI_STATUSES_IGNORE));
            OK(MPI_Waitall(REQUESTS, receives, MPI_STATUSES_IGNORE));
        }
        pthread_barrier_wait(&together);
    }
    return NULL;
}

/* One thread waits for a send, asleep in the end, whose last partition another one marks. */
static void *wait_for_send(void *unused) {
    (void)unused;
    OK(MPI_Wait(&sends[0], MPI_STATUS_IGNORE));
    return NULL;
}

static void mark_for_a_sleeper(void) {
    pthread_t waiter;
    struct timespec nap = {0, 50 * 1000 * 1000};
    OK(MPI_Start(&receives[0]));
    OK(MPI_Start(&sends[0]));
    EQUAL(pthread_create(&waiter, NULL, wait_for_send, NULL), 0);
    for (int p = 0; p < partitions[0]; p++) {
        if (p == partitions[0] - 1)
            nanosleep(&nap, NULL);
        OK(MPI_Pready(p, sends[0]));
    }
    EQUAL(pthread_join(waiter, NULL), 0);
    OK(MPI_Wait(&receives[0], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    joined();
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    left = (rank + size - 1) % size;
    for (int r = 0; r < REQUESTS; r++) {
        size_t bytes = partitions[r] * COUNT * sizeof(int);
        out[r] = malloc(bytes), in[r] = malloc(bytes);
        OK(MPI_Psend_init(out[r], partitions[r], COUNT, MPI_INT, (rank + 1) % size, r, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &sends[r]));
        OK(MPI_Precv_init(in[r], partitions[r], COUNT, MPI_INT, left, r, MPI_COMM_WORLD, MPI_INFO_NULL,
                          &receives[r]));
    }
    pthread_barrier_init(&together, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        EQUAL(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        EQUAL(pthread_join(threads[i], NULL), 0);
    mark_for_a_sleeper();
    for (int r = 0; r < REQUESTS; r++) {
        OK(MPI_Request_free(&sends[r]));
        OK(MPI_Request_free(&receives[r]));
        free(out[r]), free(in[r]);
    }
    return end();
}
