/* Attributes of MPI_COMM_SELF are deleted first thing in MPI_Finalize, the last one set first, and may use MPI.
   MPI-5.0: Process Initialization, Creation, and Management, Allowing User Functions at MPI Finalization. */
#include "check.h"

enum { ATTRIBUTES = 10 };
static int next = ATTRIBUTES;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    int finalized, sum, one = 1;
    (void)keyval, (void)extra;
    CHECK(comm == MPI_COMM_SELF, "whose attribute it is");
    EQUAL((long)value, next - 1);
    next--;
    OK(MPI_Finalized(&finalized));
    CHECK(!finalized, "MPI can be used");
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size);
    /* One refuses, which does not keep the others from being called. */
    return next == 5 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int keyval;
    begin(&argc, &argv);
    for (long i = 0; i < ATTRIBUTES; i++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyval, NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void *)i));
        OK(MPI_Comm_free_keyval(&keyval));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    GIVES(MPI_ERR_OTHER, MPI_Finalize());
    if (next == 0 && rank == 0)
        printf("passed on %d\n", size);
    return next;
}
