/* Operations and datatypes of the program may be freed as soon as a nonblocking call, or the initialisation of a
   persistent operation, has returned: what was begun or prepared with them goes on.
   MPI-5.0: Collective Communication, User-Defined Reduction Operations; Datatypes, Commit and Free. */
#include "check.h"

enum { COUNT = 2000, MODULUS = 9973 };

/* The function x -> a * x + b; composing them is associative but does not commute. */
typedef struct { int a, b; } Affine;

static Affine mine[COUNT], all[COUNT];

static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
    Affine *first = in, *second = inout;
    (void)type;
    for (int i = 0; i < *count; i++) {
        second[i].b = (second[i].a * first[i].b + second[i].b) % MODULUS;
        second[i].a = first[i].a * second[i].a % MODULUS;
    }
}

static void fill(int round) {
    for (int i = 0; i < COUNT; i++)
        mine[i] = (Affine){2 + rank + round, 1 + i}, all[i] = (Affine){0, 0};
}

static void check(int round) {
    for (int i = 0; i < COUNT; i++) {
        Affine expected = {2 + round, 1 + i}, next;
        for (int r = 1; r < size; r++) {
            next = (Affine){2 + r + round, 1 + i};
            compose(&expected, &next, &(int){1}, NULL);
            expected = next;
        }
        EQUAL(all[i].a, expected.a);
        EQUAL(all[i].b, expected.b);
    }
}

static void make(MPI_Op *op, MPI_Datatype *type) {
    OK(MPI_Op_create(compose, 0, op));
    OK(MPI_Type_contiguous(2, MPI_INT, type));
    OK(MPI_Type_commit(type));
}

static void release(MPI_Op *op, MPI_Datatype *type) {
    OK(MPI_Op_free(op));
    OK(MPI_Type_free(type));
}

int main(int argc, char **argv) {
    MPI_Request request;
    MPI_Op op;
    MPI_Datatype type;
    begin(&argc, &argv);
    for (int round = 0; round < 10; round++) {
        make(&op, &type);
        fill(round);
        OK(MPI_Iallreduce(mine, all, COUNT, type, op, MPI_COMM_WORLD, &request));
        release(&op, &type);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(round);
    }
    make(&op, &type);
    OK(MPI_Allreduce_init(mine, all, COUNT, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    release(&op, &type);
    for (int round = 0; round < 10; round++) {
        fill(round);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check(round);
    }
    OK(MPI_Request_free(&request));
    return end();
}
