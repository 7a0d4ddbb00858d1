/* What messages of 8 bytes cost where threads of two ranks send them: threads LEVEL THREADS MILLISECONDS, run by
   threads.py.

   LEVEL is what MPI_Init_thread is asked for: 0 for MPI_THREAD_SINGLE, 3 for MPI_THREAD_MULTIPLE. Every thread has a
   communicator of its own, and exchanges messages with the thread of the other rank that has the same number. With one
   thread that is the one which initialises. Rank 0 prints lines "name ns": the time of a message, all threads together.

   - pingpong: a message there and one back.
   - window: 64 nonblocking messages in one direction, completed together, and then a short answer.
   - listener: messages there and back of thread 0, while the other threads wait for one that comes in the end.
   - any: the same, where they wait for any of four messages.
   - barrier: the same, where those of rank 1 wait in a barrier.
   - self: a message of each thread of rank 0 to itself, while rank 1 sleeps: what threads that have a processor each cost
     one another. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 64, WINDOW = 64, ROUNDS = 5, FIRST = 200 };

struct work {
    void (*exchange)(MPI_Comm, int);
    MPI_Comm comm;
    int times;
};

static int rank, threads;
static MPI_Comm comms[MOST_THREADS];

static void pingpong(MPI_Comm comm, int times) {
    char from[8] = {0}, into[8];
    for (int i = 0; i < times; i++) {
        if (rank == 0) {
            MPI_Send(from, 8, MPI_BYTE, 1, 0, comm);
            MPI_Recv(into, 8, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(into, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
            MPI_Send(from, 8, MPI_BYTE, 0, 0, comm);
        }
    }
}

static void window(MPI_Comm comm, int times) {
    char from[8] = {0}, into[WINDOW][8];
    MPI_Request requests[WINDOW];
    for (int i = 0; i < times; i++) {
        for (int at = 0; at < WINDOW; at++) {
            if (rank == 0)
                MPI_Isend(from, 8, MPI_BYTE, 1, 0, comm, &requests[at]);
            else
                MPI_Irecv(into[at], 8, MPI_BYTE, 0, 0, comm, &requests[at]);
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(into[0], 8, MPI_BYTE, 1, 0, comm, MPI_STATUS_IGNORE);
        else
            MPI_Send(from, 8, MPI_BYTE, 0, 0, comm);
    }
}

static void listener(MPI_Comm comm, int times) {
    char nothing[8] = {0};
    if (comm == comms[0]) {
        pingpong(comm, times);
        for (int i = 1; i < threads; i++)
            MPI_Send(nothing, 8, MPI_BYTE, !rank, 1, comms[i]);
    } else {
        MPI_Recv(nothing, 8, MPI_BYTE, !rank, 1, comm, MPI_STATUS_IGNORE);
    }
}

static void any(MPI_Comm comm, int times) {
    enum { FEW = 4 };
    char nothing[FEW][8] = {{0}};
    MPI_Request requests[FEW];
    int done;
    if (comm == comms[0]) {
        pingpong(comm, times);
        for (int i = FEW; i < FEW * threads; i++)
            MPI_Send(nothing, 8, MPI_BYTE, !rank, i % FEW, comms[i / FEW]);
        return;
    }
    for (int i = 0; i < FEW; i++)
        MPI_Irecv(nothing[i], 8, MPI_BYTE, !rank, i, comm, &requests[i]);
    for (int i = 0; i < FEW; i++)
        MPI_Waitany(FEW, requests, &done, MPI_STATUS_IGNORE);
}

static void barrier(MPI_Comm comm, int times) {
    if (comm == comms[0])
        pingpong(comm, times);
    else if (rank == 1)
        MPI_Barrier(comm);
    for (int i = 1; comm == comms[0] && rank == 0 && i < threads; i++)
        MPI_Barrier(comms[i]);
}

static void to_self(MPI_Comm comm, int times) {
    char from[8] = {0}, into[8];
    for (int i = 0; rank == 0 && i < times; i++)
        MPI_Sendrecv(from, 8, MPI_BYTE, 0, 0, into, 8, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*exchange)(MPI_Comm, int);
    /* Of a thread in a round, or of all of them. */
    int messages, by_one;
} kinds[] = {
    {"pingpong", pingpong, 2, 0},
    {"window", window, WINDOW + 1, 0},
    {"listener", listener, 2, 1},
    {"any", any, 2, 1},
    {"barrier", barrier, 2, 1},
    {"self", to_self, 1, 0},
};

static void *run(void *argument) {
    struct work *work = argument;
    work->exchange(work->comm, work->times);
    return NULL;
}

/* Seconds until all threads have done it so many times. */
static double measure(void (*exchange)(MPI_Comm, int), int times) {
    pthread_t others[MOST_THREADS];
    struct work work[MOST_THREADS];
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < threads; i++) {
        work[i] = (struct work){exchange, comms[i], times};
        if (i > 0)
            pthread_create(&others[i], NULL, run, &work[i]);
    }
    run(&work[0]);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    int level = argc > 1 ? atoi(argv[1]) : 3, provided;
    double budget = (argc > 3 ? atof(argv[3]) : 200) / 1000;
    MPI_Init_thread(&argc, &argv, level ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    if (level && provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    threads = argc > 2 ? atoi(argv[2]) : 2;
    threads = threads < 1 ? 1 : threads > MOST_THREADS ? MOST_THREADS : threads;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < threads; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        double seconds[ROUNDS], first = measure(kinds[kind].exchange, FIRST);
        double wanted = FIRST * budget / first;
        int times = wanted < FIRST ? FIRST : wanted > 1e8 ? 100000000 : (int)wanted;
        MPI_Bcast(&times, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int round = 0; round < ROUNDS; round++)
            seconds[round] = measure(kinds[kind].exchange, times);
        qsort(seconds, ROUNDS, sizeof *seconds, ascending);
        if (rank == 0) {
            double messages = (double)times * kinds[kind].messages * (kinds[kind].by_one ? 1 : threads);
            printf("%s %.1f\n", kinds[kind].name, seconds[ROUNDS / 2] / messages * 1e9);
            fflush(stdout);
        }
    }
    for (int i = 0; i < threads; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
    return 0;
}
