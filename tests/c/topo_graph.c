/* Graphs that all know whole, with loops and several edges between two nodes.
   MPI-5.0: Virtual Topologies, Graph Constructor. */
#include "check.h"

/* Node i has itself and the two next, the second of these twice. */
enum { DEGREE = 4, MOST = 64 };

static int nodes, indx[MOST], edges[MOST * DEGREE];

static void describe(int count) {
    nodes = count;
    for (int i = 0; i < nodes; i++) {
        const int neighbours[DEGREE] = {i, (i + 1) % nodes, (i + 2) % nodes, (i + 2) % nodes};
        memcpy(edges + i * DEGREE, neighbours, sizeof neighbours);
        indx[i] = (i + 1) * DEGREE;
    }
}

static void check_graph(MPI_Comm graph) {
    int kind, found, count, found_index[MOST], found_edges[MOST * DEGREE], neighbours[DEGREE];
    OK(MPI_Topo_test(graph, &kind));
    EQUAL(kind, MPI_GRAPH);
    OK(MPI_Graphdims_get(graph, &found, &count));
    EQUAL(found, nodes);
    EQUAL(count, nodes * DEGREE);
    OK(MPI_Graph_get(graph, nodes, nodes * DEGREE, found_index, found_edges));
    CHECK(memcmp(found_index, indx, nodes * sizeof *indx) == 0, "the index is as given");
    CHECK(memcmp(found_edges, edges, count * sizeof *edges) == 0, "the edges are as given");
    for (int node = 0; node < nodes; node++) {
        OK(MPI_Graph_neighbors_count(graph, node, &count));
        EQUAL(count, DEGREE);
        OK(MPI_Graph_neighbors(graph, node, DEGREE, neighbours));
        CHECK(memcmp(neighbours, edges + node * DEGREE, sizeof neighbours) == 0, "their order is kept");
    }
    GIVES(MPI_ERR_RANK, MPI_Graph_neighbors_count(graph, nodes, &count));
    GIVES(MPI_ERR_RANK, MPI_Graph_neighbors(graph, -1, DEGREE, neighbours));
    GIVES(MPI_ERR_ARG, MPI_Graph_neighbors(graph, 0, DEGREE - 1, neighbours));
    GIVES(MPI_ERR_ARG, MPI_Graph_get(graph, nodes - 1, nodes * DEGREE, found_index, found_edges));
    GIVES(MPI_ERR_ARG, MPI_Graph_get(graph, nodes, nodes * DEGREE - 1, found_index, found_edges));
}

static void check_wrong(void) {
    MPI_Comm graph = MPI_COMM_WORLD;
    describe(size + 1);
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, nodes, indx, edges, 0, &graph));
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, -1, indx, edges, 0, &graph));
    describe(size);
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, NULL, edges, 0, &graph));
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, indx, NULL, 0, &graph));
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, indx, edges, 0, NULL));
    edges[1] = size;
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, indx, edges, 0, &graph));
    indx[0] = -1;
    GIVES(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size, indx, edges, 0, &graph));
    CHECK(graph == MPI_COMM_WORLD, "a call that fails sets nothing");
}

int main(int argc, char **argv) {
    MPI_Comm graph;
    int mapped;
    begin(&argc, &argv);
    for (int count = 0; count <= size; count++) {
        describe(count);
        OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, indx, edges, &mapped));
        EQUAL(mapped, rank < nodes ? rank : MPI_UNDEFINED);
        OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, indx, edges, 1, &graph));
        EQUAL(graph == MPI_COMM_NULL, rank >= nodes);
        if (graph != MPI_COMM_NULL) {
            check_graph(graph);
            OK(MPI_Comm_free(&graph));
        }
    }
    check_wrong();
    return end();
}
