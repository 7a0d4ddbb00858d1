/* Operations of the program: commutative ones, and one that does not commute and sees its operands in the
   order of ranks, in every lifetime. MPI-5.0: Collective Communication, User-Defined Reduction Operations. */
#include "lifetimes.h"

enum { COUNT = 300, MODULUS = 1000003 };

/* The function x -> a * x + b; composing them is associative but does not commute. */
typedef struct { long a, b; } Affine;

static Affine sent[COUNT], found[COUNT];
static MPI_Datatype affine;

static Affine then(Affine first, Affine second) {
    return (Affine){first.a * second.a % MODULUS, (second.a * first.b + second.b) % MODULUS};
}

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    Affine *first = in, *second = inout;
    CHECK(*type == affine, "the function is told the datatype of the call");
    for (int i = 0; i < *count; i++)
        second[i] = then(first[i], second[i]);
}

static void compose_large(void *in, void *inout, MPI_Count *count, MPI_Datatype *type) {
    int small = (int)*count;
    compose(in, inout, &small, type);
}

static Affine value(int r, int i, int round) {
    return (Affine){2 + r + round, 1 + (long)i * (r + 1)};
}

static void fill(int round) {
    memset(found, 0, sizeof found);
    for (int i = 0; i < COUNT; i++)
        sent[i] = value(rank, i, round);
}

static void check(int round) {
    for (int i = 0; i < COUNT; i++) {
        Affine expected = value(0, i, round);
        for (int r = 1; r < size; r++)
            expected = then(expected, value(r, i, round));
        EQUAL(found[i].a, expected.a);
        EQUAL(found[i].b, expected.b);
    }
}

static void check_at_last(int round) {
    if (rank == size - 1)
        check(round);
}

static void check_operation(MPI_Op op) {
    int commutes;
    OK(MPI_Op_commutative(op, &commutes));
    EQUAL(commutes, 0);
    IN_EVERY_LIFETIME(fill, check, MPI_Allreduce, MPI_Iallreduce, sent, found, COUNT, affine, op, MPI_COMM_WORLD);
    IN_EVERY_LIFETIME(fill, check_at_last, MPI_Reduce, MPI_Ireduce, sent, found, COUNT, affine, op, size - 1,
        MPI_COMM_WORLD);
}

static void maximum(void *in, void *inout, int *count, MPI_Datatype *type) {
    double *a = in, *b = inout;
    CHECK(*type == MPI_DOUBLE, "the function is told the datatype of the call");
    for (int i = 0; i < *count; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void check_commutative(void) {
    static double mine[20000], greatest[20000];
    MPI_Op op;
    for (int i = 0; i < 20000; i++)
        mine[i] = (i * 7 + rank * 13) % 101;
    OK(MPI_Op_create(maximum, 1, &op));
    OK(MPI_Allreduce(mine, greatest, 20000, MPI_DOUBLE, op, MPI_COMM_WORLD));
    for (int i = 0; i < 20000; i++) {
        int expected = 0;
        for (int r = 0; r < size; r++)
            expected = (i * 7 + r * 13) % 101 > expected ? (i * 7 + r * 13) % 101 : expected;
        EQUAL(greatest[i], expected);
    }
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL, "a freed operation becomes null");
}

int main(int argc, char **argv) {
    MPI_Op op;
    begin(&argc, &argv);
    check_commutative();
    OK(MPI_Type_contiguous(2, MPI_LONG, &affine));
    OK(MPI_Type_commit(&affine));
    OK(MPI_Op_create(compose, 0, &op));
    check_operation(op);
    OK(MPI_Op_free(&op));
    OK(MPI_Op_create_c(compose_large, 0, &op));
    check_operation(op);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&affine));
    return end();
}
