/* The share of one rank: some rows of the matrix, and what it must know of its neighbours' vectors. */
#include "cg.h"

#include <stdlib.h>

/* The first row of a rank; `size` asks for the end of the last one's. */
int first_row(int rows, int rank, int size) { return (int)((long long)rows * rank / size); }

static int owner(int rows, int row, int size) { return (int)((((long long)row + 1) * size - 1) / rows); }

/* Numbers the columns of other ranks that occur in the block: `place` becomes their places in the halo, else
 * -1. */
static int number_halo(const struct matrix *matrix, int first, int end, int *place) {
    for (int column = 0; column < matrix->rows; column++)
        place[column] = -1;
    for (long at = matrix->starts[first]; at < matrix->starts[end]; at++)
        if (matrix->columns[at] < first || matrix->columns[at] >= end)
            place[matrix->columns[at]] = 0;
    int halo = 0;
    for (int column = 0; column < matrix->rows; column++)
        if (place[column] == 0)
            place[column] = halo++;
    return halo;
}

/* Copies the columns of the block, or else the others, under their new numbers. */
static struct matrix take_rows(const struct matrix *matrix, int first, int end, const int *place, int own) {
    struct matrix part = new_matrix(end - first, matrix->starts[end] - matrix->starts[first]);
    long to = 0;
    for (int row = first; row < end; row++) {
        for (long at = matrix->starts[row]; at < matrix->starts[row + 1]; at++) {
            int column = matrix->columns[at];
            if ((place[column] < 0) == own) {
                part.columns[to] = own ? column - first : place[column];
                part.values[to++] = matrix->values[at];
            }
        }
        part.starts[row - first + 1] = to;
    }
    return part;
}

/* Finds who owns the halo, and what they need: the matrix is symmetric, so a row that meets a column of
 * another rank is needed there. */
static void find_neighbours(struct share *share, const struct matrix *matrix, const int *place, int size) {
    struct neighbour *all = allocate((size_t)size, sizeof *all);
    for (int column = 0; column < matrix->rows; column++) {
        if (place[column] >= 0) {
            struct neighbour *other = &all[owner(matrix->rows, column, size)];
            if (other->owns++ == 0) {
                other->first = place[column];
                other->rows = allocate((size_t)share->rows, sizeof(int));
            }
        }
    }
    for (int row = 0; row < share->rows; row++) {
        const long *start = &matrix->starts[share->first + row];
        for (long at = start[0]; at < start[1]; at++) {
            int column = matrix->columns[at];
            struct neighbour *other = place[column] < 0 ? NULL : &all[owner(matrix->rows, column, size)];
            if (other != NULL && (other->needs == 0 || other->rows[other->needs - 1] != row))
                other->rows[other->needs++] = row;
        }
    }
    share->neighbours = 0;
    for (int rank = 0, packed = 0; rank < size; rank++) {
        if (all[rank].owns > 0) {
            all[rank].rank = rank;
            all[rank].packed = packed;
            packed += all[rank].needs;
            all[share->neighbours++] = all[rank];
        }
    }
    share->neighbour = all;
}

struct share new_share(const struct matrix *matrix, int rank, int size) {
    int first = first_row(matrix->rows, rank, size), end = first_row(matrix->rows, rank + 1, size);
    int *place = allocate((size_t)matrix->rows, sizeof(int));
    struct share share = {.first = first, .rows = end - first};
    share.halo = number_halo(matrix, first, end, place);
    share.own = take_rows(matrix, first, end, place, 1);
    share.other = take_rows(matrix, first, end, place, 0);
    find_neighbours(&share, matrix, place, size);
    free(place);
    return share;
}

void free_share(struct share *share) {
    free_matrix(&share->own);
    free_matrix(&share->other);
    for (int i = 0; i < share->neighbours; i++)
        free(share->neighbour[i].rows);
    free(share->neighbour);
}
