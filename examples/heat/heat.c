/* Heat spreads in an insulated rod, of which each rank has a part.
 *
 * In each step a cell gives a quarter of its heat to each neighbour. The neighbours of a part's outermost cells lie on
 * other ranks: MPI_Sendrecv gets their heat. At the ends of the rod, where the neighbour is MPI_PROC_NULL, it leaves
 * what is there: the cell's own heat, so that none is lost. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 20, STEPS = 100 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    /* The rank's own cells are 1 to CELLS; cells 0 and CELLS + 1 belong to its neighbours. */
    double now[CELLS + 2] = {0}, next[CELLS + 2] = {0};
    if (rank == 0) {
        now[1] = 100;
    }
    for (int step = 0; step < STEPS; step++) {
        now[0] = now[1];
        now[CELLS + 1] = now[CELLS];
        MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[CELLS + 1], 1, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now[CELLS], 1, MPI_DOUBLE, right, 0, &now[0], 1, MPI_DOUBLE, left, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int cell = 1; cell <= CELLS; cell++) {
            next[cell] = now[cell - 1] / 4 + now[cell] / 2 + now[cell + 1] / 4;
        }
        memcpy(now, next, sizeof now);
    }

    double own = 0, all = 0;
    for (int cell = 1; cell <= CELLS; cell++) {
        own += now[cell];
    }
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d ranks: heat %.6f in all, %.6f in the first part\n", size, all, own);
    }
    MPI_Finalize();
    return 0;
}
