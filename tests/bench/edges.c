/* What a job takes besides its communication: memory of a rank after MPI_Init, and the processor time of one that waits.
   Rank 0 prints the greatest of either over the ranks: KiB, and parts of a processor. With an argument it does nothing
   between MPI_Init and MPI_Finalize. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { IDLE_S = 1 };

/* Memory in KiB, with what is shared counted in parts; 0 if the system does not tell. */
static double own_kib(void) {
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %lf", &kib) == 1)
            break;
    if (file)
        fclose(file);
    return kib;
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    int rank;
    double mine[2], most[2];
    MPI_Init(&argc, &argv);
    if (argc > 1)
        return MPI_Finalize();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    mine[0] = own_kib();
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (rank == 0) {
        const struct timespec idle = {IDLE_S, 0};
        nanosleep(&idle, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    mine[1] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / (seconds(CLOCK_MONOTONIC) - begin);
    MPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("kib %.0f\nidle %.4f\n", most[0], most[1]);
    MPI_Finalize();
    return 0;
}
