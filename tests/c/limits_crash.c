/* A rank that has used much shared memory crashes. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const int count = 4 << 20;
    double *mine = calloc((size_t)count, sizeof(double)), *sum = calloc((size_t)count, sizeof(double));
    OK(MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    free(mine);
    free(sum);
    if (rank == size - 1) {
        abort();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
