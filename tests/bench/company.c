/* What calls cost while other processes use the processors: company SECONDS, run by company.py.

   Every call is timed by itself, and ranks meet between calls; rank 0 prints a line "name us" with the mean over calls
   of the slowest rank. A mean, because what waiting costs beside others lies in the few calls that take long. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;
static char *from, *into;

/* There and back between ranks 0 and 1, 2 and 3, ... */
static void there_and_back(int bytes) {
    int peer = rank ^ 1;
    if (peer >= size)
        return;
    if (rank < peer) {
        MPI_Send(from, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(into, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(into, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
    }
}

static void allreduce(int bytes) {
    MPI_Allreduce(from, into, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void alltoall(int bytes) {
    MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void bcast(int bytes) {
    MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*call)(int bytes);
    int bytes;
} calls[] = {
    {"pingpong-8", there_and_back, 8},
    {"pingpong-64K", there_and_back, 64 << 10},
    {"pingpong-1M", there_and_back, 1 << 20},
    {"pingpong-16M", there_and_back, 16 << 20},
    {"allreduce-8", allreduce, 8},
    {"allreduce-64K", allreduce, 64 << 10},
    {"allreduce-4M", allreduce, 4 << 20},
    {"alltoall-64K", alltoall, 64 << 10},
    {"bcast-1M", bcast, 1 << 20},
};

/* Mean time of a call, in seconds, of at least 3 and as many as fit into the budget. The first call is not counted: it
   waits for ranks that have not started yet. */
static double measure(void (*call)(int), int bytes, double budget) {
    call(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    double sum = 0, begin = MPI_Wtime();
    int number = 0, more = 1;
    while (more) {
        double at = MPI_Wtime(), mine, slowest;
        call(bytes);
        mine = MPI_Wtime() - at;
        MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            double spent = MPI_Wtime() - begin;
            sum += slowest;
            number++;
            more = number < 1000 && (number < 3 || spent < budget) && spent < 4 * budget;
        }
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return sum / number;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double budget = argc > 1 ? atof(argv[1]) : 0.4;
    size_t most = (size_t)16 << 20;
    from = calloc(most, 1);
    into = calloc(most, 1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        double seconds = measure(calls[i].call, calls[i].bytes, budget);
        if (rank == 0) {
            printf("%s %.2f\n", calls[i].name, seconds * 1e6);
            fflush(stdout);
        }
    }
    free(from);
    free(into);
    MPI_Finalize();
    return 0;
}
