/* An operation that does not commute, on elements with a gap: maps x -> ax + b modulo a prime, one after the other. */
#ifndef OXMPI_TESTS_AFFINE_H
#define OXMPI_TESTS_AFFINE_H

#include "check.h"

enum { PRIME = 10007, GAP = 77777 };

typedef struct {
    int a, gap, b;
} Affine;

static const Affine identity = {1, GAP, 0}, untouched = {-1, GAP, -1};
static MPI_Datatype affine_type;
static MPI_Op affine_op;

static Affine then(Affine left, Affine right) {
    return (Affine){left.a * right.a % PRIME, GAP, (left.a * right.b + left.b) % PRIME};
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    Affine *left = in, *right = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        right[i].b = then(left[i], right[i]).b;
        right[i].a = then(left[i], right[i]).a;
    }
}

static void make_affine(void) {
    MPI_Datatype pair;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    OK(MPI_Type_create_resized(pair, 0, sizeof(Affine), &affine_type));
    OK(MPI_Type_commit(&affine_type));
    OK(MPI_Type_free(&pair));
    OK(MPI_Op_create(compose, 0, &affine_op));
}

static void free_affine(void) {
    OK(MPI_Type_free(&affine_type));
    OK(MPI_Op_free(&affine_op));
}

/* What rank `r` contributes as its `i`-th element. */
static Affine map_of(int r, int i, int round) {
    return (Affine){(5 * r + 3 * i + round) % 100 + 1, GAP, (7 * i + 11 * r + 13 * round) % 1000};
}

/* The maps of the ranks from `first` to `last`, one after the other. */
static Affine maps_of(int first, int last, int i, int round) {
    Affine all = identity;
    for (int r = first; r <= last; r++)
        all = then(all, map_of(r, i, round));
    return all;
}

static void same_map(Affine found, Affine expected) {
    EQUAL(found.a, expected.a);
    EQUAL(found.b, expected.b);
    EQUAL(found.gap, GAP);
}

#endif
