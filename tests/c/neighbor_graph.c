/* Neighbourhoods of graphs: several edges between two processes are told apart by their order, a process may be its own
   neighbour, and some have none.
   MPI-5.0: Virtual Topologies for MPI Processes, Neighborhood Collective Communication on Virtual Topologies. */
#include "lifetimes.h"

enum { MOST = 8, EACH = 40 };

static MPI_Comm graph;
static int sources[MOST], destinations[MOST], indegree, outdegree, scale;
static int sent[MOST * MOST * EACH], received[MOST * MOST * EACH];
static int send_counts[MOST], send_places[MOST], recv_counts[MOST], recv_places[MOST];

/* The edges from `from`: two to its successor, one to itself, one to the next but one; none from the last. */
static int edges_from(int from, int to[MOST]) {
    if (from == size - 1 && size > 1)
        return 0;
    const int ends[] = {(from + 1) % size, from, (from + 2) % size, (from + 1) % size};
    memcpy(to, ends, sizeof ends);
    return 4;
}

/* Which edge of its source leads here as the `index`-th source. */
static int edge_of(int index) {
    int to[MOST], earlier = 0;
    for (int i = 0; i < index; i++)
        earlier += sources[i] == sources[index];
    int n = edges_from(sources[index], to);
    for (int e = 0; e < n; e++)
        if (to[e] == rank && earlier-- == 0)
            return e;
    return -1;
}

static int length(int from, int edge) {
    return ((from + 2 * edge) % 3) * scale;
}

static void lay_out(void) {
    indegree = 0;
    outdegree = edges_from(rank, destinations);
    for (int from = size - 1; from >= 0; from--) {
        int to[MOST], n = edges_from(from, to);
        for (int e = 0; e < n; e++)
            if (to[e] == rank)
                sources[indegree++] = from;
    }
    for (int e = 0, end = 0; e < outdegree; e++, end += send_counts[e - 1] + 1) {
        send_counts[e] = length(rank, e);
        send_places[e] = end;
    }
    for (int i = 0, end = 0; i < indegree; i++, end += recv_counts[i - 1] + 1) {
        recv_counts[i] = length(sources[i], edge_of(i));
        recv_places[i] = end;
    }
}

static int value(int from, int edge, int i, int round) {
    return 1000000 * round + 10000 * from + 1000 * edge + i;
}

static void fill(int round) {
    memset(received, 255, sizeof received);
    for (int e = 0; e < outdegree; e++)
        for (int i = 0; i < send_counts[e]; i++)
            sent[send_places[e] + i] = value(rank, e, i, round);
}

static void check(int round) {
    for (int s = 0; s < indegree; s++) {
        for (int i = 0; i < recv_counts[s]; i++)
            EQUAL(received[recv_places[s] + i], value(sources[s], edge_of(s), i, round));
        EQUAL(received[recv_places[s] + recv_counts[s]], -1);
    }
}

static void fill_one(int round) {
    memset(received, 255, sizeof received);
    for (int i = 0; i < EACH; i++)
        sent[i] = value(rank, 0, i, round);
}

static void check_row(int round) {
    for (int s = 0; s < indegree; s++)
        for (int i = 0; i < EACH; i++)
            EQUAL(received[s * EACH + i], value(sources[s], 0, i, round));
}

static void all_forms(void) {
    /* Who sends to nobody need not say what. */
    IN_THREE_LIFETIMES(fill_one, check_row, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
        MPI_Neighbor_allgather_init, outdegree ? sent : NULL, outdegree ? EACH : 0, MPI_INT, received, EACH, MPI_INT,
        graph);
    for (scale = 0; scale < EACH / 2; scale += 7) {
        lay_out();
        IN_THREE_LIFETIMES(fill, check, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init,
            sent, send_counts, send_places, MPI_INT, received, recv_counts, recv_places, MPI_INT, graph);
    }
}

/* A ring told as a graph that everybody knows: its edges lead both ways. */
static void on_a_ring(void) {
    static int index[2 * MOST], edges[4 * MOST];
    if (size < 3)
        return;
    for (int r = 0; r < size; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + 1) % size;
        edges[2 * r + 1] = (r + size - 1) % size;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph));
    indegree = 2;
    memcpy(sources, edges + 2 * rank, sizeof *edges * 2);
    IN_THREE_LIFETIMES(fill_one, check_row, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
        MPI_Neighbor_allgather_init, sent, EACH, MPI_INT, received, EACH, MPI_INT, graph);
    OK(MPI_Comm_free(&graph));
}

/* Who has no neighbours has no buffers either. */
static void alone(void) {
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
        0, &graph));
    OK(MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph));
    OK(MPI_Neighbor_allgatherv(NULL, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, graph));
    OK(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, graph));
    OK(MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, graph));
    OK(MPI_Comm_free(&graph));
}

/* From the first to the next, and no other edge: who sends to nobody has no buffer to send from, whatever it counts
   there, and who is alone minds no length. */
static void in_one_direction(int counted_apart) {
    const int is_first = rank == 0 && size > 1, is_next = rank == 1;
    indegree = is_next, outdegree = is_first;
    sources[0] = 0, destinations[0] = 1;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    const int count = is_first || is_next ? EACH : counted_apart;
    recv_counts[0] = EACH, recv_places[0] = 0;
    IN_THREE_LIFETIMES(fill_one, check_row, MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
        MPI_Neighbor_allgather_init, is_first ? sent : NULL, count, MPI_INT, is_next ? received : NULL, count, MPI_INT,
        graph);
    IN_THREE_LIFETIMES(fill_one, check_row, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
        MPI_Neighbor_allgatherv_init, is_first ? sent : NULL, count, MPI_INT, is_next ? received : NULL, recv_counts,
        recv_places, MPI_INT, graph);
    OK(MPI_Comm_free(&graph));
}

/* Wrong here: no topology, no buffer to work in place with, and a length that a process disagrees about with itself. */
static void refuse(void) {
    MPI_Comm plain;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &plain));
    OK(MPI_Comm_set_errhandler(plain, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, plain));
    OK(MPI_Comm_free(&plain));
    MPI_Comm self;
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, (int[]){1}, 0, &self));
    OK(MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_BUFFER, MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, received, 1, MPI_INT, self));
    GIVES(MPI_ERR_TRUNCATE, MPI_Neighbor_alltoall(sent, 2, MPI_INT, received, 1, MPI_INT, self));
    OK(MPI_Comm_free(&self));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    lay_out();
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, sources, MPI_UNWEIGHTED, outdegree, destinations,
        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    all_forms();
    OK(MPI_Comm_free(&graph));
    on_a_ring();
    alone();
    in_one_direction(0);
    in_one_direction(EACH);
    refuse();
    return end();
}
