/* What one rank gives wrong to a distributed graph is an error of all, and nobody waits for it.
   MPI-5.0: Virtual Topologies, Distributed Graph Constructor. */
#include "check.h"

static MPI_Comm graph = MPI_COMM_SELF;

/* The last rank gives these arguments, the others right ones. */
static void refuses(int class, int n, int source, int degree, int destination, const int *weights, MPI_Info info) {
    if (rank != size - 1)
        n = 1, source = rank, degree = 1, destination = 0, weights = MPI_UNWEIGHTED, info = MPI_INFO_NULL;
    GIVES(class, MPI_Dist_graph_create(MPI_COMM_WORLD, n, &source, &degree, &destination, weights, info, 0, &graph));
}

static void refuses_adjacent(int class, int in, int source, const int *sourceweights, int out, int destination,
                             const int *destweights) {
    if (rank != size - 1)
        in = out = 1, source = destination = rank, sourceweights = destweights = MPI_UNWEIGHTED;
    GIVES(class, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, &source, sourceweights, out, &destination,
                                                destweights, MPI_INFO_NULL, 0, &graph));
}

static void refuses_null(void) {
    int one = 1, zero = 0, last = rank == size - 1;
    MPI_Comm *result = last ? NULL : &graph;
    GIVES(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &zero, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                             result));
    GIVES(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, last ? NULL : &zero, &one, &zero, MPI_UNWEIGHTED,
                                             MPI_INFO_NULL, 0, &graph));
    GIVES(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, last ? NULL : &zero, MPI_UNWEIGHTED, 0,
                                                      &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
}

/* An array without items may lie anywhere; ranks and directions without edges do not make a graph weighted. */
static void accepts_empty(const int *empty) {
    int in = 0, out = rank == 0 ? 0 : 1, one = 1, to = 0, weighted = -1;
    MPI_Comm made;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, out, &rank, &one, &to, out ? MPI_UNWEIGHTED : empty, MPI_INFO_NULL, 0,
                             &made));
    OK(MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted));
    CHECK(weighted == 0 || size == 1, "nobody has given a weight");
    OK(MPI_Comm_free(&made));
    in = rank == 0 ? size - 1 : 0, out = rank == 0 ? 0 : 1;
    int sources[8];
    for (int i = 0; i < in; i++)
        sources[i] = i + 1;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, in ? MPI_UNWEIGHTED : empty, out, &to,
                                      out ? MPI_UNWEIGHTED : empty, MPI_INFO_NULL, 0, &made));
    OK(MPI_Dist_graph_neighbors_count(made, &in, &out, &weighted));
    CHECK(weighted == 0 || size == 1, "nobody has given a weight");
    OK(MPI_Comm_free(&made));
}

int main(int argc, char **argv) {
    int weight = 1, negative = -1;
    begin(&argc, &argv);
    refuses(MPI_ERR_ARG, -1, 0, 1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL);
    refuses(MPI_ERR_RANK, 1, size, 1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL);
    refuses(MPI_ERR_RANK, 1, 0, 1, -1, MPI_UNWEIGHTED, MPI_INFO_NULL);
    refuses(MPI_ERR_ARG, 1, 0, -1, 0, MPI_UNWEIGHTED, MPI_INFO_NULL);
    refuses(MPI_ERR_ARG, 1, 0, 1, 0, &negative, MPI_INFO_NULL);
    refuses(MPI_ERR_ARG, 1, 0, 1, 0, NULL, MPI_INFO_NULL);
    refuses(MPI_ERR_ARG, 1, 0, 1, 0, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL);
    refuses(MPI_ERR_INFO, 1, 0, 1, 0, MPI_UNWEIGHTED, (MPI_Info)(void *)MPI_COMM_WORLD);
    refuses_adjacent(MPI_ERR_ARG, -1, 0, MPI_UNWEIGHTED, 1, 0, MPI_UNWEIGHTED);
    refuses_adjacent(MPI_ERR_RANK, 1, size, MPI_UNWEIGHTED, 1, 0, MPI_UNWEIGHTED);
    refuses_adjacent(MPI_ERR_RANK, 1, 0, MPI_UNWEIGHTED, 1, -1, MPI_UNWEIGHTED);
    refuses_adjacent(MPI_ERR_ARG, 1, 0, &weight, 1, 0, &negative);
    refuses_adjacent(MPI_ERR_ARG, 1, 0, &weight, 1, 0, MPI_UNWEIGHTED);
    refuses_null();
    accepts_empty(NULL);
    accepts_empty((int *)4);
    accepts_empty(MPI_WEIGHTS_EMPTY);
    if (size > 1) {
        /* Some give weights, others none. */
        refuses(MPI_ERR_ARG, 1, 0, 1, 0, &weight, MPI_INFO_NULL);
        refuses_adjacent(MPI_ERR_ARG, 1, 0, &weight, 1, 0, &weight);
    }
    CHECK(graph == MPI_COMM_SELF, "a call that fails sets nothing");
    return end();
}
