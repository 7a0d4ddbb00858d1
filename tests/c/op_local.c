/* Reduce_local combines two buffers of one process; the program's functions see these and not copies, whatever
   gaps they have. MPI-5.0: Collective Communication, Process-Local Reduction. */
#include "check.h"

enum { COUNT = 5, STRIDE = 4 };

static int in[COUNT * STRIDE], inout[COUNT * STRIDE], calls;

static void subtract(void *left, void *right, int *count, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(*type, &lb, &extent));
    EQUAL(extent, STRIDE * sizeof(int));
    EQUAL(*count, COUNT);
    CHECK(left == in && right == inout, "the program's own buffers");
    for (int i = 0; i < COUNT; i++)
        inout[i * STRIDE] = in[i * STRIDE] - inout[i * STRIDE];
    calls++;
}

static void check_user(void) {
    MPI_Datatype type;
    MPI_Op op;
    for (int i = 0; i < COUNT * STRIDE; i++)
        in[i] = 10 * i, inout[i] = i;
    OK(MPI_Type_create_resized(MPI_INT, 0, STRIDE * sizeof(int), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(subtract, 0, &op));
    OK(MPI_Reduce_local(in, inout, COUNT, type, op));
    OK(MPI_Reduce_local(in, inout, 0, type, op));
    EQUAL(calls, 1);
    for (int i = 0; i < COUNT * STRIDE; i++)
        EQUAL(inout[i], i % STRIDE == 0 ? 9 * i : i);
    GIVES(MPI_ERR_COUNT, MPI_Reduce_local(in, inout, -1, type, op));
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    GIVES(MPI_ERR_OP, MPI_Reduce_local(in, inout, 1, MPI_INT, op));
}

int main(int argc, char **argv) {
    int a[100], b[100];
    begin(&argc, &argv);
    for (int i = 0; i < 100; i++)
        a[i] = i, b[i] = 1000 * rank;
    OK(MPI_Reduce_local(a, b, 100, MPI_INT, MPI_SUM));
    for (int i = 0; i < 100; i++)
        EQUAL(b[i], 1000 * rank + i);
    OK(MPI_Reduce_local_c(a, b, 100, MPI_INT, MPI_MIN));
    for (int i = 0; i < 100; i++)
        EQUAL(b[i], i);
    check_user();
    return end();
}
