/* Distributed graphs: who knows an edge need not be at an end of it.
   MPI-5.0: Virtual Topologies, Distributed Graph Constructor. */
#include "check.h"

enum { MOST = 64 };

static int weight_of(int source, int destination) {
    return 100 * source + destination;
}

static int compare(const void *one, const void *two) {
    return *(const int *)one - *(const int *)two;
}

/* The neighbours are these, in any order, each with the weight of its edge. */
static void check_side(const int *found, const int *weights, int count, const int *expected, int incoming) {
    int sorted[MOST], wanted[MOST];
    for (int i = 0; i < count && weights != NULL; i++)
        EQUAL(weights[i], incoming ? weight_of(found[i], rank) : weight_of(rank, found[i]));
    memcpy(sorted, found, count * sizeof *found);
    memcpy(wanted, expected, count * sizeof *expected);
    qsort(sorted, count, sizeof *sorted, compare);
    qsort(wanted, count, sizeof *wanted, compare);
    for (int i = 0; i < count; i++)
        EQUAL(sorted[i], wanted[i]);
}

static void check_graph(MPI_Comm graph, int weighted, int in, const int *from, int out, const int *to) {
    int indegree, outdegree, found_weighted, kind, sources[MOST], destinations[MOST], again[MOST];
    int sourceweights[MOST], destweights[MOST];
    OK(MPI_Topo_test(graph, &kind));
    EQUAL(kind, MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(graph, &indegree, &outdegree, &found_weighted));
    EQUAL(indegree, in);
    EQUAL(outdegree, out);
    EQUAL(found_weighted, weighted);
    OK(MPI_Dist_graph_neighbors(graph, in, sources, weighted ? sourceweights : MPI_UNWEIGHTED, out, destinations,
                                weighted ? destweights : MPI_UNWEIGHTED));
    check_side(sources, weighted ? sourceweights : NULL, in, from, 1);
    check_side(destinations, weighted ? destweights : NULL, out, to, 0);
    /* Every call gives the same order, and as many as there is room for. */
    again[0] = -1;
    OK(MPI_Dist_graph_neighbors(graph, in / 2, again, weighted ? sourceweights : MPI_UNWEIGHTED, 0, NULL,
                                weighted ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED));
    CHECK(memcmp(again, sources, in / 2 * sizeof *again) == 0, "the first neighbours are others");
    if (in == 1)
        EQUAL(again[0], -1);
}

/* A ring with loops: each has an edge to itself, and two to the next. */
static void check_ring(int weighted) {
    MPI_Comm graph;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    int sources[3] = {before, rank, before}, destinations[3] = {next, rank, next}, in[3], out[3], found[3];
    for (int i = 0; i < 3; i++)
        in[i] = weight_of(sources[i], rank), out[i] = weight_of(rank, destinations[i]);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, sources, weighted ? in : MPI_UNWEIGHTED, 3, destinations,
                                      weighted ? out : MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph));
    check_graph(graph, weighted, 3, sources, 3, destinations);
    OK(MPI_Dist_graph_neighbors(graph, 3, found, weighted ? in : MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED));
    CHECK(memcmp(found, sources, sizeof found) == 0, "adjacent neighbours keep the order that was given");
    OK(MPI_Comm_free(&graph));
    /* Each tells of the edges of the rank before it. */
    int degree = 3, told[3] = {rank, before, rank}, weights[3];
    for (int i = 0; i < 3; i++)
        weights[i] = weight_of(before, told[i]);
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &before, &degree, told, weighted ? weights : MPI_UNWEIGHTED,
                             MPI_INFO_NULL, 0, &graph));
    check_graph(graph, weighted, 3, sources, 3, destinations);
    OK(MPI_Comm_free(&graph));
}

/* The last rank tells everything: all have an edge to rank 0, and 0 to all others. */
static void check_star(int weighted) {
    MPI_Comm graph;
    int sources[MOST], degrees[MOST], destinations[2 * MOST], weights[2 * MOST], all[MOST], count = 0;
    int n = rank == size - 1 ? size : 0;
    for (int i = 0; i < size; i++) {
        sources[i] = i, degrees[i] = i == 0 ? size : 1, all[i] = i;
        for (int j = 0; j < degrees[i]; j++) {
            destinations[count] = i == 0 ? j : 0;
            weights[count] = weight_of(i, destinations[count]);
            count++;
        }
    }
    int *given = !weighted ? MPI_UNWEIGHTED : n == 0 ? MPI_WEIGHTS_EMPTY : weights;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations, given, MPI_INFO_NULL, 1, &graph));
    int center = rank == 0 ? size : 1;
    check_graph(graph, weighted, center, all, center, all);
    OK(MPI_Comm_free(&graph));
}

/* Nobody has a neighbour. */
static void check_empty_graph(void) {
    MPI_Comm graph;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "unknown", "hint"));
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, info, 0, &graph));
    check_graph(graph, 0, 0, NULL, 0, NULL);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, info, 0,
                                      &graph));
    check_graph(graph, 1, 0, NULL, 0, NULL);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int weighted = 0; weighted < 2; weighted++) {
        check_ring(weighted);
        check_star(weighted);
    }
    check_empty_graph();
    return end();
}
