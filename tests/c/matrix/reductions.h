/* What operations make of two elements, as a program would say it; predefined ones are checked against it, and the
   program's own call it. */
#ifndef OXMPI_TESTS_MATRIX_REDUCTIONS_H
#define OXMPI_TESTS_MATRIX_REDUCTIONS_H

#include "elements.h"

/* The last three are the program's own: a sum beside a maximum; x -> slope * x + offset, one after the other; and
   products of 2 x 2 matrices. The latter two depend on the order. */
typedef enum {
    NOTHING, SUM, PRODUCT, MAXIMUM, MINIMUM, AND, OR, XOR, BOTH, EITHER, ONE_OF_BOTH, MINIMUM_AT, MAXIMUM_AT,
    SUM_AND_MAXIMUM, COMPOSITION, MATRIX_PRODUCT, HOWS
} How;

/* An operation on elements of one signature. `own` is whether it is the program's. */
typedef struct {
    const char *name;
    How how;
    Signature signature;
    int own;
    MPI_Op op;
} Reduction;

enum { MOST_REDUCTIONS = 80 };

static Reduction reductions[MOST_REDUCTIONS];
static int reduction_count;

/* One number of each. */
static int64_t combined_number(How how, int64_t one, int64_t other) {
    switch (how) {
    case SUM: return (int64_t)((uint64_t)one + (uint64_t)other);
    case PRODUCT: return (int64_t)((uint64_t)one * (uint64_t)other);
    case MAXIMUM: return one > other ? one : other;
    case MINIMUM: return one < other ? one : other;
    case AND: return one & other;
    case OR: return one | other;
    case XOR: return one ^ other;
    case BOTH: return one && other;
    case EITHER: return one || other;
    default: return !one != !other;
    }
}

/* `one` before `other`, left in `other`. */
static void combine(How how, const Type *types, const int64_t *one, int64_t *other) {
    const uint64_t *a = (const uint64_t *)one;
    uint64_t *b = (uint64_t *)other;
    switch (how) {
    case MINIMUM_AT:
    case MAXIMUM_AT:
        if (one[0] == other[0] ? one[1] < other[1] : (one[0] < other[0]) == (how == MINIMUM_AT))
            other[0] = one[0], other[1] = one[1];
        return;
    case SUM_AND_MAXIMUM:
        other[0] = wrapped(types[0], a[0] + b[0]);
        other[1] = combined_number(MAXIMUM, one[1], other[1]);
        return;
    case COMPOSITION:
        b[1] = (uint32_t)(b[0] * a[1] + b[1]);
        b[0] = (uint32_t)(b[0] * a[0]);
        return;
    case MATRIX_PRODUCT: {
        uint64_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
            a[2] * b[1] + a[3] * b[3]};
        for (int n = 0; n < 4; n++)
            b[n] = (uint32_t)product[n];
        return;
    }
    default:
        other[0] = wrapped(types[0], (uint64_t)combined_number(how, one[0], other[0]));
    }
}

/* A number that may be combined this way: any, unless sums would overflow or logic would find nothing but truth. */
static int64_t operand(How how, Type type, int number, uint64_t random) {
    int is_signed = type == SHORT || type == INTEGER || type == LONG || type == DOUBLE;
    switch (how) {
    case SUM:
    case SUM_AND_MAXIMUM:
        return is_signed ? (int64_t)(random % 2001) - 1000 : wrapped(type, random);
    case AND:
        return wrapped(type, random | random >> 11 | random << 7);
    case BOTH:
    case EITHER:
    case ONE_OF_BOTH:
        return random % 3 ? wrapped(type, random | 1) : 0;
    case MINIMUM_AT:
    case MAXIMUM_AT:
        return (int64_t)(number == 0 ? random % 7 : random % 1000);
    case COMPOSITION:
        return wrapped(type, number == 0 ? random | 1 : random);
    default:
        return type == DOUBLE ? (int64_t)(random >> 12) : wrapped(type, random);
    }
}

static void combine_all(How how, const char *in, char *inout, long count, MPI_Datatype type) {
    const Layout *layout = layout_of(type);
    for (long i = 0; i < count * layout->elements; i++) {
        int64_t one[NUMBERS], other[NUMBERS];
        load_element(layout, in, i, one);
        load_element(layout, inout, i, other);
        combine(how, layout->base->types, one, other);
        store_element(layout, inout, i, other);
    }
}

/* A function for `int` and one for MPI_Count. */
#define FUNCTIONS(name, how)                                                                        \
    static void name(void *in, void *inout, int *count, MPI_Datatype *type) {                       \
        combine_all(how, in, inout, *count, *type);                                                 \
    }                                                                                               \
    static void name##_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type) {         \
        combine_all(how, in, inout, (long)*count, *type);                                           \
    }

FUNCTIONS(sum_and_maximum, SUM_AND_MAXIMUM)
FUNCTIONS(composition, COMPOSITION)
FUNCTIONS(matrix_product, MATRIX_PRODUCT)

static void add_reduction(const char *name, How how, Signature signature, int own, MPI_Op op) {
    CHECK(reduction_count < MOST_REDUCTIONS, "there is no room for %s", name);
    reductions[reduction_count++] = (Reduction){name, how, signature, own, op};
}

static void add_own(const char *name, How how, Signature signature, int commutes, MPI_User_function *function,
                    MPI_User_function_c *large) {
    MPI_Op op;
    OK(MPI_Op_create(function, commutes, &op));
    add_reduction(name, how, signature, 1, op);
    OK(MPI_Op_create_c(large, commutes, &op));
    add_reduction(name, how, signature, 1, op);
}

static void make_reductions(void) {
    for (Signature signature = BYTES; signature <= DOUBLES; signature++) {
        int is_unsigned = signature == BYTES || signature == UNSIGNEDS || signature == UNSIGNED_LONGS;
        add_reduction("MPI_SUM", SUM, signature, 0, MPI_SUM);
        if (is_unsigned)
            add_reduction("MPI_PROD", PRODUCT, signature, 0, MPI_PROD);
        /* Numbers are held as signed ones here. */
        if (signature != UNSIGNED_LONGS) {
            add_reduction("MPI_MAX", MAXIMUM, signature, 0, MPI_MAX);
            add_reduction("MPI_MIN", MINIMUM, signature, 0, MPI_MIN);
        }
        if (signature == DOUBLES)
            continue;
        add_reduction("MPI_BAND", AND, signature, 0, MPI_BAND);
        add_reduction("MPI_BOR", OR, signature, 0, MPI_BOR);
        add_reduction("MPI_BXOR", XOR, signature, 0, MPI_BXOR);
        add_reduction("MPI_LAND", BOTH, signature, 0, MPI_LAND);
        add_reduction("MPI_LOR", EITHER, signature, 0, MPI_LOR);
        add_reduction("MPI_LXOR", ONE_OF_BOTH, signature, 0, MPI_LXOR);
    }
    for (Signature signature = PAIRS; signature <= DOUBLE_PAIRS; signature++) {
        add_reduction("MPI_MINLOC", MINIMUM_AT, signature, 0, MPI_MINLOC);
        add_reduction("MPI_MAXLOC", MAXIMUM_AT, signature, 0, MPI_MAXLOC);
    }
    add_own("own sum and maximum", SUM_AND_MAXIMUM, MIXED, 1, sum_and_maximum, sum_and_maximum_large);
    add_own("own composition", COMPOSITION, AFFINE, 0, composition, composition_large);
    add_own("own matrix product", MATRIX_PRODUCT, MATRICES, 0, matrix_product, matrix_product_large);
}

static void free_reductions(void) {
    for (int i = 0; i < reduction_count; i++)
        if (reductions[i].own)
            OK(MPI_Op_free(&reductions[i].op));
}

#endif
