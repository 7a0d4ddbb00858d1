/* More threads than processors send and receive at the same time: by communicators of their own, by one and tags of their
   own, and from anybody; one completes what all have begun, and each sends to others of its rank. Between, one thread
   is alone.
   MPI-5.0: External Interfaces, MPI and Threads; Point-to-Point Communication. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 60, ALONE = 400, LONGEST = 40000 };

static const int lengths[] = {0, 1, 20, 300, 3000, LONGEST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static MPI_Comm comms[THREADS], shared;
static int numbers[THREADS];

static int value(int from, int number, int round) {
    return (from * THREADS + number) * ROUNDS + round;
}

static void fill(int *buffer, int count, int first) {
    for (int i = 0; i < count; i++)
        buffer[i] = first + i;
}

static void check_filled(const int *buffer, int count, int first) {
    for (int i = 0; i < count; i++)
        EQUAL(buffer[i], first + i);
}

static int *memory(void) {
    int *buffer = calloc(LONGEST, sizeof *buffer);
    CHECK(buffer != NULL, "memory");
    return buffer;
}

/* To the thread with the same number of the next rank, and from that of the one before. */
static void exchange(int number, int round, MPI_Comm comm, int tag, int *from, int *into) {
    int next = (rank + 1) % size, before = (rank + size - 1) % size, count = lengths[(number + round) % LENGTHS];
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    fill(from, count, value(rank, number, round));
    if (round % 3 == 0)
        OK(MPI_Issend(from, count, MPI_INT, next, tag, comm, &request));
    else
        OK(MPI_Isend(from, count, MPI_INT, next, tag, comm, &request));
    switch ((round + number) % 4) {
    case 0:
        OK(MPI_Recv(into, LONGEST, MPI_INT, before, tag, comm, &status));
        break;
    case 1:
        OK(MPI_Probe(before, tag, comm, &status));
        OK(MPI_Recv(into, count, MPI_INT, before, tag, comm, &status));
        break;
    case 2:
        OK(MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status));
        OK(MPI_Mrecv(into, LONGEST, MPI_INT, &message, &status));
        break;
    default: {
        MPI_Request receive;
        int done = 0;
        OK(MPI_Irecv(into, LONGEST, MPI_INT, before, tag, comm, &receive));
        while (!done)
            OK(MPI_Test(&receive, &done, &status));
    }
    }
    check_status(&status, before, tag, MPI_INT, count);
    check_filled(into, count, value(before, number, round));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void *by_communicators(void *argument) {
    int number = *(int *)argument, *from = memory(), *into = memory();
    for (int round = 0; round < ROUNDS; round++)
        exchange(number, round, comms[number], 5, from, into);
    free(from), free(into);
    return NULL;
}

static void *by_tags(void *argument) {
    int number = *(int *)argument, *from = memory(), *into = memory();
    for (int round = 0; round < ROUNDS; round++)
        exchange(number, round, shared, number, from, into);
    free(from), free(into);
    return NULL;
}

/* Whichever thread takes a message: each is taken once. */
static int taken[THREADS][ROUNDS];

static void *from_anybody(void *argument) {
    int number = *(int *)argument, next = (rank + 1) % size, what;
    for (int round = 0; round < ROUNDS; round++) {
        int mine = value(rank, number, round);
        MPI_Request request;
        OK(MPI_Isend(&mine, 1, MPI_INT, next, 0, shared, &request));
        OK(MPI_Recv(&what, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, shared, MPI_STATUS_IGNORE));
        what -= value((rank + size - 1) % size, 0, 0);
        CHECK(what >= 0 && what < THREADS * ROUNDS, "%d is not of this round", what);
        __atomic_fetch_add(&taken[what / ROUNDS][what % ROUNDS], 1, __ATOMIC_RELAXED);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

/* Thread 0 completes what all have begun. */
static MPI_Request begun[2 * THREADS];
static pthread_barrier_t meeting;

static void *for_others(void *argument) {
    int number = *(int *)argument, *from = memory(), *into = memory();
    for (int round = 0; round < ROUNDS; round++) {
        int before = (rank + size - 1) % size, count = lengths[round % LENGTHS];
        fill(from, count, value(rank, number, round));
        OK(MPI_Irecv(into, count, MPI_INT, before, number, shared, &begun[2 * number]));
        OK(MPI_Isend(from, count, MPI_INT, (rank + 1) % size, number, shared, &begun[2 * number + 1]));
        pthread_barrier_wait(&meeting);
        if (number == 0)
            OK(MPI_Waitall(2 * THREADS, begun, MPI_STATUSES_IGNORE));
        pthread_barrier_wait(&meeting);
        check_filled(into, count, value(before, number, round));
    }
    free(from), free(into);
    return NULL;
}

/* A message goes around the threads of the rank, all of which wait but one. */
static void *within_the_rank(void *argument) {
    int number = *(int *)argument, what;
    for (int round = 0; round < ROUNDS; round++) {
        what = round;
        if (number > 0)
            OK(MPI_Recv(&what, 1, MPI_INT, rank, number, shared, MPI_STATUS_IGNORE));
        EQUAL(what, round + number);
        what++;
        if (round % 2)
            OK(MPI_Ssend(&what, 1, MPI_INT, rank, number + 1, shared));
        else
            OK(MPI_Send(&what, 1, MPI_INT, rank, number + 1, shared));
        if (number == 0) {
            OK(MPI_Recv(&what, 1, MPI_INT, rank, THREADS, shared, MPI_STATUS_IGNORE));
            EQUAL(what, round + THREADS);
        }
    }
    return NULL;
}

static void all_threads(void *(*body)(void *)) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, body, &numbers[i]) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0, "its end");
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void alone(void) {
    int from[20] = {0}, into[20];
    for (int round = 0; round < ALONE; round++)
        OK(MPI_Sendrecv(from, 20, MPI_INT, (rank + 1) % size, 1, into, 20, MPI_INT, (rank + size - 1) % size, 1,
                        comms[0], MPI_STATUS_IGNORE));
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    joined();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    }
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &shared));
    pthread_barrier_init(&meeting, NULL, THREADS);
    void *(*const bodies[])(void *) = {by_communicators, by_tags, from_anybody, for_others, within_the_rank};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        alone();
        all_threads(bodies[i]);
    }
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < ROUNDS; round++)
            EQUAL(taken[i][round], 1);
    pthread_barrier_destroy(&meeting);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Comm_free(&shared));
    return end();
}
