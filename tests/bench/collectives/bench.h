/* What the parts of the benchmark of collectives share; main.c says what it is. */
#ifndef BENCH_H
#define BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum lifetime { BLOCKING, NONBLOCKING, PERSISTENT, LIFETIMES };

/* What sets an operation apart, for the benchmark. */
enum {
    ROOTED = 1,        /* has a root */
    LENGTHS = 2,       /* takes a length of each block */
    SUMS = 4,          /* adds vectors up */
    SENDS_EACH = 8,    /* sends a block to each, rather than one to all */
    RECEIVES_EACH = 16,/* receives a block from each, rather than one */
    ONE_GROUP = 32,    /* is not defined between two groups */
    NEIGHBORS = 64,    /* each means: each of the four neighbours in a grid of processes */
    MESSAGES = 128,    /* by sends and receives; to be compared with a collective */
    FIELD = 256,       /* the blocks are the borders of a field: rows, and columns by a datatype */
    PAIR = 512,        /* messages between two processes; the time is that of one */
};

enum { BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
       REDUCE, ALLREDUCE, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, SCAN, EXSCAN, NEIGHBOR_ALLGATHER,
       NEIGHBOR_ALLGATHERV, NEIGHBOR_ALLTOALL, NEIGHBOR_ALLTOALLV, NEIGHBOR_ALLTOALLW, HALO_MESSAGES, FIELD_ALLTOALLW,
       FIELD_MESSAGES, PING_PONG, WINDOWED, OPERATIONS };

struct operation {
    const char *name;
    unsigned traits;
};

/* A point of the measurement: what is called, and with what. */
struct point {
    int id;
    const struct operation *operation;
    enum lifetime lifetime;
    bool rotating; /* each iteration has the next root */
    bool uneven;   /* blocks of different lengths */
    long bytes;    /* of a block, or of the whole vector */
};

/* One of the two groups of an intercommunicator; of an intracommunicator both are the whole. */
struct side {
    int size;
    int base; /* rank in MPI_COMM_WORLD of its rank 0 */
};

#define DIRECTIONS 4
/* That a window of messages takes at most. */
#define MOST_WINDOW_BYTES (64L << 20)

/* One call in the lifetime `lifetime`; unless it blocks, it wants `request`. */
#define CALL(BLOCKING_NAME, NONBLOCKING_NAME, ...)                                                                     \
    (lifetime == BLOCKING      ? MPI_##BLOCKING_NAME(__VA_ARGS__)                                                      \
     : lifetime == NONBLOCKING ? MPI_##NONBLOCKING_NAME(__VA_ARGS__, request)                                          \
                               : MPI_##BLOCKING_NAME##_init(__VA_ARGS__, MPI_INFO_NULL, request))

extern const struct operation operations[OPERATIONS];
extern struct point point;
extern struct side local, remote;
extern int rank, size, local_rank;
extern bool inter;
extern MPI_Comm comm, grid;                      /* measured on; `grid` is periodic in two dimensions */
extern double *from, *into;                      /* room for the longest blocks of everybody */
extern int from_counts[], from_places[], into_counts[], into_places[]; /* of the blocks, in elements */
extern int neighbors[DIRECTIONS];

/* used.c */
extern bool used; /* whether data are written before each call and read after it */
void data_made(double *at, long elements);
void data_read(const double *at, long elements);

/* operations.c */
void operations_prepare(void);
void operation_make(int root);
void operation_read(int root);
int operation_begin(enum lifetime lifetime, int root, MPI_Request *request);
void operation_fill(int batch);
long operation_wrong(int batch, int last_root);
double value(int source, int block, int batch, long index);

/* neighbors.c */
void grid_create(void);
void neighbors_prepare(void);
void neighbors_release(void);
int neighbors_begin(enum lifetime lifetime, MPI_Request *request);
int messages_begin(enum lifetime lifetime, MPI_Request *requests);
void field_fill(int batch);
long field_wrong(int batch);

/* pairs.c */
size_t pairs_room(long longest);
void pairs_prepare(void);
int pairs_requests(void);
int pairs_make(MPI_Request *requests);
int pairs_messages(void);
int pairs_loop(long iterations, MPI_Request *requests);
void pairs_fill(int batch);
long pairs_wrong(int batch);

/* measure.c */
void line_open(void);
void measure(void);
extern double batch_ms, point_ms;
extern int batches;
extern bool check;

#endif
