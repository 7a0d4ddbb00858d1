/* Balanced grids. MPI-5.0: Virtual Topologies, Cartesian Convenience Function: MPI_DIMS_CREATE. */
#include "check.h"

static void gives(int nodes, int ndims, const int *given, const int *expected) {
    int dims[8];
    memcpy(dims, given, ndims * sizeof *dims);
    OK(MPI_Dims_create(nodes, ndims, dims));
    for (int i = 0; i < ndims; i++)
        EQUAL(dims[i], expected[i]);
}

static void refuses(int class, int nodes, int ndims, const int *given) {
    int dims[8];
    memcpy(dims, given, sizeof dims);
    GIVES(class, MPI_Dims_create(nodes, ndims, dims));
    CHECK(memcmp(dims, given, sizeof dims) == 0, "a call that fails changes nothing");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    gives(6, 2, (int[]){0, 0}, (int[]){3, 2});
    gives(7, 2, (int[]){0, 0}, (int[]){7, 1});
    gives(6, 3, (int[]){0, 3, 0}, (int[]){2, 3, 1});
    gives(2 * 3 * 5 * 7 * 11, 2, (int[]){0, 0}, (int[]){55, 42});
    gives(1000000000, 3, (int[]){0, 0, 0}, (int[]){1000, 1000, 1000});
    gives(24, 2, (int[]){2, 12}, (int[]){2, 12});
    gives(1, 0, (int[]){0}, NULL);
    OK(MPI_Dims_create(1, 0, NULL));
    refuses(MPI_ERR_DIMS, 7, 3, (int[8]){0, 3, 0});
    refuses(MPI_ERR_DIMS, 4, 2, (int[8]){2, 1});
    refuses(MPI_ERR_DIMS, 4, 2, (int[8]){0, -1});
    refuses(MPI_ERR_DIMS, 4, 0, (int[8]){0});
    refuses(MPI_ERR_DIMS, 4, -1, (int[8]){0});
    refuses(MPI_ERR_ARG, 0, 2, (int[8]){0});
    refuses(MPI_ERR_ARG, -4, 2, (int[8]){0});
    GIVES(MPI_ERR_ARG, MPI_Dims_create(4, 2, NULL));
    return end();
}
