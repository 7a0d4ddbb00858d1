/* Communicators of every kind, drawn from a seed, and who is whose neighbour in them. */
#ifndef OXMPI_TESTS_MATRIX_COMMS_H
#define OXMPI_TESTS_MATRIX_COMMS_H

#include <stdint.h>

#include "../jobs.h"
#include "../random.h"

enum { MOST_RANKS = 16, MOST_NEIGHBORS = 24, MOST_COMMS = 16 };

typedef enum { INTRA, INTER, CART, GRAPH, DIST_GRAPH, KINDS_OF_COMM } Kind;

static const char *const kind_names[] = {"intra", "inter", "cart", "graph", "dist_graph"};

/* Neighbours of one rank, in their order; MPI_PROC_NULL beyond an edge. */
typedef struct { int count, ranks[MOST_NEIGHBORS]; } Neighbors;

/* A communicator as one of its members sees it. Without a second group, all are in group 0. */
typedef struct {
    Kind kind;
    const char *name;
    MPI_Comm comm;
    int group, me, sizes[2];
    Neighbors sources[MOST_RANKS], destinations[MOST_RANKS];
} Comm;

static Comm comms[MOST_COMMS];
static int comm_count;

/* Spreads a number over 64 bits. */
static uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

/* The order of 0 to `count` - 1. */
static void shuffle(Random *dice, int *numbers, int count) {
    for (int i = 0; i < count; i++) {
        int j = next(dice, i + 1);
        numbers[i] = numbers[j];
        numbers[j] = i;
    }
}

static Comm *add_comm(Kind kind, const char *name, MPI_Comm comm) {
    CHECK(comm_count < MOST_COMMS, "there is no room for %s", name);
    Comm *it = &comms[comm_count++];
    *it = (Comm){.kind = kind, .name = name, .comm = comm};
    if (comm == MPI_COMM_NULL)
        return it;
    OK(MPI_Comm_rank(comm, &it->me));
    OK(MPI_Comm_size(comm, &it->sizes[0]));
    return it;
}

static void add_intra(Random *dice) {
    int color[MOST_RANKS], key[MOST_RANKS];
    MPI_Comm made;
    add_comm(INTRA, "the world", everybody);
    OK(MPI_Comm_dup(everybody, &made));
    add_comm(INTRA, "a duplicate", made);
    shuffle(dice, key, size);
    OK(MPI_Comm_split(everybody, 0, key[rank], &made));
    add_comm(INTRA, "all in another order", made);
    for (int r = 0; r < size; r++)
        color[r] = next(dice, 2);
    OK(MPI_Comm_split(everybody, color[rank], key[rank], &made));
    add_comm(INTRA, "a part", made);
}

/* The first `first` ranks of an order, and the others. */
static void add_inter(Random *dice, int first) {
    int order[MOST_RANKS], place = 0;
    MPI_Comm local, made;
    shuffle(dice, order, size);
    while (order[place] != rank)
        place++;
    int group = place >= first;
    OK(MPI_Comm_split(everybody, group, place, &local));
    OK(MPI_Intercomm_create(local, 0, everybody, order[group ? 0 : first], first, &made));
    OK(MPI_Comm_free(&local));
    Comm *it = add_comm(INTER, "two groups", made);
    it->group = group;
    it->sizes[0] = first, it->sizes[1] = size - first;
}

static void add_cart(Random *dice, int ndims) {
    int dims[3] = {1, 1, 1}, periods[3], left = size, order[3];
    MPI_Comm made;
    shuffle(dice, order, ndims);
    for (int d = 0; d < ndims; d++) {
        dims[order[d]] = d == 0 && next(dice, 2) ? left : 1 + next(dice, left);
        left /= dims[order[d]];
        periods[order[d]] = next(dice, 3) > 0;
    }
    OK(MPI_Cart_create(everybody, ndims, dims, periods, next(dice, 2), &made));
    Comm *it = add_comm(CART, "a grid", made);
    for (int r = 0; r < it->sizes[0]; r++)
        for (int n = 0; n < 2 * ndims; n++) {
            int stride = 1, d = n / 2;
            for (int inner = d + 1; inner < ndims; inner++)
                stride *= dims[inner];
            int place = r / stride % dims[d], moved = place + (n % 2 ? 1 : -1);
            int wrapped = (moved + dims[d]) % dims[d];
            int neighbor = moved == wrapped || periods[d] ? r + (wrapped - place) * stride : MPI_PROC_NULL;
            it->sources[r].ranks[n] = it->destinations[r].ranks[n] = neighbor;
            it->sources[r].count = it->destinations[r].count = n + 1;
        }
}

static void add_neighbor(Neighbors *neighbors, int other) {
    if (neighbors->count < MOST_NEIGHBORS)
        neighbors->ranks[neighbors->count++] = other;
}

/* Edges between some of the ranks, some of them several times, some from a rank to itself. */
static void draw_edges(Random *dice, Neighbors *sources, Neighbors *destinations, int nodes, int is_symmetric) {
    int edges = nodes == 0 ? 0 : next(dice, 2 * nodes + 3);
    for (int edge = 0; edge < edges; edge++) {
        int from = next(dice, nodes), to = next(dice, 4) == 0 ? from : next(dice, nodes), times = 1 + next(dice, 5) / 4;
        while (times-- > 0 && destinations[from].count < MOST_NEIGHBORS && sources[to].count < MOST_NEIGHBORS) {
            if (is_symmetric && from != to
                && (destinations[to].count == MOST_NEIGHBORS || sources[from].count == MOST_NEIGHBORS))
                break;
            add_neighbor(&destinations[from], to);
            add_neighbor(&sources[to], from);
            if (is_symmetric && from != to) {
                add_neighbor(&destinations[to], from);
                add_neighbor(&sources[from], to);
            }
        }
    }
}

static void add_graph(Random *dice) {
    int index[MOST_RANKS], edges[MOST_RANKS * MOST_NEIGHBORS], total = 0, nodes = size - next(dice, 4) / 3;
    Neighbors sources[MOST_RANKS] = {0}, destinations[MOST_RANKS] = {0};
    MPI_Comm made;
    draw_edges(dice, sources, destinations, nodes, 1);
    for (int r = 0; r < nodes; r++) {
        for (int n = 0; n < destinations[r].count; n++)
            edges[total++] = destinations[r].ranks[n];
        index[r] = total;
    }
    OK(MPI_Graph_create(everybody, nodes, index, edges, next(dice, 2), &made));
    Comm *it = add_comm(GRAPH, "a graph", made);
    memcpy(it->sources, destinations, sizeof destinations);
    memcpy(it->destinations, destinations, sizeof destinations);
}

/* Each rank names the edges at its ends. */
static void add_adjacent(Random *dice) {
    Neighbors sources[MOST_RANKS] = {0}, destinations[MOST_RANKS] = {0};
    MPI_Comm made;
    draw_edges(dice, sources, destinations, size, 0);
    for (int r = 0; r < size; r++)
        for (int n = sources[r].count - 1; n > 0; n--) {
            int other = next(dice, n + 1), kept = sources[r].ranks[n];
            sources[r].ranks[n] = sources[r].ranks[other];
            sources[r].ranks[other] = kept;
        }
    OK(MPI_Dist_graph_create_adjacent(everybody, sources[rank].count, sources[rank].ranks, MPI_UNWEIGHTED,
                                      destinations[rank].count, destinations[rank].ranks, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &made));
    Comm *it = add_comm(DIST_GRAPH, "a distributed graph", made);
    memcpy(it->sources, sources, sizeof sources);
    memcpy(it->destinations, destinations, sizeof destinations);
}

/* Each rank names another one's edges. Which order the ends see is up to the library: they tell each other. */
static void add_dist_graph(Random *dice) {
    Neighbors sources[MOST_RANKS] = {0}, destinations[MOST_RANKS] = {0};
    MPI_Comm made;
    int other = (rank + 1) % size, weighted;
    draw_edges(dice, sources, destinations, size, 0);
    OK(MPI_Dist_graph_create(everybody, 1, &other, &destinations[other].count, destinations[other].ranks,
                             MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    Comm *it = add_comm(DIST_GRAPH, "a graph made in common", made);
    Neighbors *in = &sources[rank], *out = &destinations[rank];
    OK(MPI_Dist_graph_neighbors_count(made, &in->count, &out->count, &weighted));
    OK(MPI_Dist_graph_neighbors(made, in->count, in->ranks, MPI_UNWEIGHTED, out->count, out->ranks, MPI_UNWEIGHTED));
    enum { EACH = 1 + MOST_NEIGHBORS };
    OK(MPI_Allgather(in, EACH, MPI_INT, it->sources, EACH, MPI_INT, everybody));
    OK(MPI_Allgather(out, EACH, MPI_INT, it->destinations, EACH, MPI_INT, everybody));
}

/* Those of epoch `epoch`: the groups of intercommunicators take all sizes in turn. */
static void make_comms(uint64_t seed, int epoch) {
    Random dice = {mix(seed ^ mix((uint64_t)epoch))};
    comm_count = 0;
    add_intra(&dice);
    for (int i = 0; i < 2 && size > 1; i++)
        add_inter(&dice, 1 + (2 * epoch + i) % (size - 1));
    for (int ndims = 1; ndims <= 3; ndims++)
        add_cart(&dice, ndims);
    add_graph(&dice);
    add_adjacent(&dice);
    add_dist_graph(&dice);
}

static void free_comms(void) {
    for (int i = 0; i < comm_count; i++)
        if (comms[i].comm != everybody && comms[i].comm != MPI_COMM_NULL)
            OK(MPI_Comm_free(&comms[i].comm));
    comm_count = 0;
}

#endif
