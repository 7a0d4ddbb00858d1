/* A grid falls into the subgrids of the dimensions that remain.
   MPI-5.0: Virtual Topologies, Partitioning of Cartesian Structures. */
#include "check.h"

enum { NDIMS = 3 };

static void check_part(MPI_Comm grid, const int *dims, const int *coords, int mask) {
    MPI_Comm part;
    int remains[NDIMS], found[NDIMS], periods[NDIMS], inside[NDIMS], ndims, kept = 0, members = 1, count, sum;
    for (int i = 0; i < NDIMS; i++)
        remains[i] = mask >> i & 1 ? 3 : 0;
    OK(MPI_Cart_sub(grid, remains, &part));
    OK(MPI_Cartdim_get(part, &ndims));
    OK(MPI_Cart_get(part, NDIMS, found, periods, inside));
    for (int i = 0; i < NDIMS; i++) {
        if (!remains[i])
            continue;
        EQUAL(found[kept], dims[i]);
        EQUAL(periods[kept], i != 1);
        EQUAL(inside[kept++], coords[i]);
        members *= dims[i];
    }
    EQUAL(ndims, kept);
    OK(MPI_Comm_size(part, &count));
    EQUAL(count, members);
    /* The members agree in the coordinates that are gone. */
    for (int i = 0; i < NDIMS; i++) {
        if (remains[i])
            continue;
        OK(MPI_Allreduce(&coords[i], &sum, 1, MPI_INT, MPI_SUM, part));
        EQUAL(sum, coords[i] * members);
    }
    OK(MPI_Comm_free(&part));
}

int main(int argc, char **argv) {
    MPI_Comm grid;
    int dims[NDIMS] = {0, 0, 0}, periods[NDIMS] = {1, 0, 1}, coords[NDIMS];
    begin(&argc, &argv);
    OK(MPI_Dims_create(size, NDIMS, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, NDIMS, dims, periods, 0, &grid));
    OK(MPI_Cart_coords(grid, rank, NDIMS, coords));
    for (int mask = 0; mask < 1 << NDIMS; mask++)
        check_part(grid, dims, coords, mask);
    OK(MPI_Comm_free(&grid));
    return end();
}
