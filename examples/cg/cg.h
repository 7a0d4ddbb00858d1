/* The parts of the program cg, and what they share. */
#ifndef CG_H
#define CG_H

#include <mpi.h>
#include <stddef.h>

/* How small the residual must become, relative to the right-hand side. */
#define TOLERANCE 1e-10

enum { TAG_HALO, TAG_PIECE };

enum lifetime { BLOCKING, NONBLOCKING, PERSISTENT };
extern const char *const LIFETIMES[];

/* A sparse matrix by compressed rows. */
struct matrix {
    int rows;
    long *starts; /* where each row begins in columns and values; one more at the end */
    int *columns;
    double *values;
};

/* A rank that owns part of the halo, and needs part of the block. */
struct neighbour {
    int rank;
    int needs, *rows; /* the rows of the block that it needs, counted from the block's first */
    int owns, first;  /* the part of the halo that it owns */
    int packed;       /* where its values are packed */
};

/* The share of one rank: a block of rows. In `own` columns are counted from the block's first; in `other`
 * they are places in the halo, which holds the columns of other ranks that occur, in order. */
struct share {
    int first, rows, halo, neighbours;
    struct matrix own, other;
    struct neighbour *neighbour;
};

/* The communication of the solver. */
struct exchange {
    enum lifetime lifetime;
    const struct share *share;
    double *packed, *halo;
    int requests;
    MPI_Request *request, sum;
    double sum_of[2], sum_is[2];
};

struct solution {
    double *x;
    int iterations;
    double residual, seconds;
};

/* cg.c */
void fail(const char *format, ...);
void *allocate(size_t count, size_t bytes);

/* matrix.c */
struct matrix new_matrix(int rows, long nonzeros);
void free_matrix(struct matrix *matrix);
struct matrix read_matrix(const char *path);
void bcast_matrix(struct matrix *matrix, int rank);
void add_product(const struct matrix *matrix, const double *x, double *y);

/* share.c */
int first_row(int rows, int rank, int size);
struct share new_share(const struct matrix *matrix, int rank, int size);
void free_share(struct share *share);

/* exchange.c */
void open_exchange(struct exchange *exchange, const struct share *share, enum lifetime lifetime);
void close_exchange(struct exchange *exchange);
void begin_halo(struct exchange *exchange, const double *x);
void end_halo(struct exchange *exchange);
void sum(struct exchange *exchange, double *first, double *second);

/* solver.c */
struct solution solve(const struct share *share, struct exchange *exchange, int limit);

#endif
