/* Whether measuring finds the best algorithm: binding COLLECTIVE BYTES MILLISECONDS ALGORITHM..., run by binding.py.

   Requests of one persistent collective are bound by naming each algorithm, by measuring and by the estimate; then all
   run in turn, in batches, and rank 0 prints lines "wish ns ns ..." with, for each batch, the greatest mean time of a
   start and its completion over the ranks. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WISHES = 32, BATCHES = 15 };

static int rank, size;
static char *sent, *received;

static void bind(const char *collective, int bytes, const char *wish, MPI_Request *request) {
    MPI_Info info;
    MPI_Comm comm = MPI_COMM_WORLD;
    int doubles = bytes / 8;
    MPI_Info_create(&info);
    MPI_Info_set(info, "oxmpi_plan", wish);
    if (!strcmp(collective, "allgather"))
        MPI_Allgather_init(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm, info, request);
    else if (!strcmp(collective, "allreduce"))
        MPI_Allreduce_init(sent, received, doubles, MPI_DOUBLE, MPI_SUM, comm, info, request);
    else if (!strcmp(collective, "alltoall"))
        MPI_Alltoall_init(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm, info, request);
    else if (!strcmp(collective, "barrier"))
        MPI_Barrier_init(comm, info, request);
    else if (!strcmp(collective, "bcast"))
        MPI_Bcast_init(sent, bytes, MPI_BYTE, 0, comm, info, request);
    else if (!strcmp(collective, "exscan"))
        MPI_Exscan_init(sent, received, doubles, MPI_DOUBLE, MPI_SUM, comm, info, request);
    else if (!strcmp(collective, "gather"))
        MPI_Gather_init(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, 0, comm, info, request);
    else if (!strcmp(collective, "reduce"))
        MPI_Reduce_init(sent, received, doubles, MPI_DOUBLE, MPI_SUM, 0, comm, info, request);
    else if (!strcmp(collective, "reduce_scatter_block"))
        MPI_Reduce_scatter_block_init(sent, received, doubles, MPI_DOUBLE, MPI_SUM, comm, info, request);
    else if (!strcmp(collective, "scan"))
        MPI_Scan_init(sent, received, doubles, MPI_DOUBLE, MPI_SUM, comm, info, request);
    else if (!strcmp(collective, "scatter"))
        MPI_Scatter_init(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, 0, comm, info, request);
    else
        MPI_Abort(comm, 2);
    MPI_Info_free(&info);
}

/* The greatest mean over the ranks, in seconds. */
static double batch(MPI_Request *request, int rounds) {
    double mean, greatest;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    mean = (MPI_Wtime() - begin) / rounds;
    MPI_Allreduce(&mean, &greatest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return greatest;
}

int main(int argc, char **argv) {
    static double times[MOST_WISHES][BATCHES];
    MPI_Request requests[MOST_WISHES];
    int rounds[MOST_WISHES];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int bytes = atoi(argv[2]), wishes = argc - 4;
    double batch_s = atof(argv[3]) / 1000 / BATCHES;
    if (wishes > MOST_WISHES)
        MPI_Abort(MPI_COMM_WORLD, 2);
    /* Written: who reads pages that never were finds the one page of zeroes of the system, in its own cache. */
    size_t all = (size_t)size * ((size_t)bytes + 8);
    sent = malloc(all);
    received = malloc(all);
    memset(sent, 1, all);
    memset(received, 1, all);
    for (int w = 0; w < wishes; w++)
        bind(argv[1], bytes, argv[4 + w], &requests[w]);
    for (int w = 0; w < wishes; w++) {
        batch(&requests[w], 2);
        double wanted = batch_s / batch(&requests[w], 5);
        rounds[w] = wanted < 2 ? 2 : wanted > 1e6 ? 1000000 : (int)wanted;
    }
    for (int i = 0; i < BATCHES; i++)
        for (int w = 0; w < wishes; w++)
            times[w][i] = batch(&requests[w], rounds[w]);
    for (int w = 0; w < wishes; w++) {
        if (rank == 0) {
            printf("%s", argv[4 + w]);
            for (int i = 0; i < BATCHES; i++)
                printf(" %.1f", times[w][i] * 1e9);
            printf("\n");
        }
        MPI_Request_free(&requests[w]);
    }
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
