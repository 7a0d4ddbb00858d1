/* Errors of calls without a communicator go to the error handler of MPI_COMM_SELF, as MPI-5.0 says (MPI Environmental
   Management, Error Handling); where the program has set only that of MPI_COMM_WORLD, to that one, as in other
   libraries. Of the argument `fatal`, the program sets the handler of MPI_COMM_SELF to what it was. */
#include "check.h"

static MPI_Comm heard = MPI_COMM_NULL;
static int code;

static void hear(MPI_Comm *comm, int *error, ...) {
    heard = *comm;
    code = *error;
}

/* Calls that belong to no object. */
static void fail(MPI_Comm whose) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    heard = MPI_COMM_NULL;
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&type));
    CHECK(heard == whose, "%p has heard, not %p", (void *)heard, (void *)whose);
    EQUAL(class_of(code), MPI_ERR_TYPE);
    heard = MPI_COMM_NULL;
    GIVES(MPI_ERR_GROUP, MPI_Group_size(group, &code));
    CHECK(heard == whose, "%p has heard, not %p", (void *)heard, (void *)whose);
    heard = MPI_COMM_NULL;
    GIVES(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    CHECK(heard == whose, "%p has heard, not %p", (void *)heard, (void *)whose);
}

int main(int argc, char **argv) {
    MPI_Errhandler handler, before;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Comm_create_errhandler(hear, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    if (argc > 1) {
        OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &before));
        OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, before));
    }
    fail(MPI_COMM_WORLD);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    fail(MPI_COMM_SELF);
    OK(MPI_Errhandler_free(&handler));
    return end();
}
