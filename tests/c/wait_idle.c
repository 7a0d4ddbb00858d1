/* A rank that waits one second in MPI_Recv uses less than 2 % of a core. */
#define _GNU_SOURCE
#include "check.h"
#include <sys/resource.h>
#include <unistd.h>

static double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
        1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    int value = 0;
    begin(&argc, &argv);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double begin_cpu = cpu_seconds(), begin_time = MPI_Wtime();
    if (rank == 0) {
        usleep(1000000);
        for (int other = 1; other < size; other++)
            OK(MPI_Send(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        double cpu = cpu_seconds() - begin_cpu, time = MPI_Wtime() - begin_time;
        CHECK(cpu < 0.02 * time, "%.4f s of CPU in %.4f s", cpu, time);
    }
    return end();
}
