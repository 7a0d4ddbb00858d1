/* Error handlers: of the program, inherited by duplicates, called with the communicator and the code.
   MPI-5.0: MPI Environmental Management, Error Handling. */
#include "check.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void note(MPI_Comm *comm, int *code, ...) {
    calls++;
    last_comm = *comm;
    last_class = class_of(*code);
}

int main(int argc, char **argv) {
    MPI_Errhandler mine, found;
    MPI_Comm copy;
    int value = 0, code;
    begin(&argc, &argv);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == MPI_ERRORS_RETURN, "the handler that was set");
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    MPI_Errhandler kept = mine;
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL, "a freed handler becomes null");

    code = MPI_Send(&value, 1, MPI_INT, size, 0, copy);
    EQUAL(class_of(code), MPI_ERR_RANK);
    EQUAL(calls, 1);
    EQUAL(last_class, MPI_ERR_RANK);
    CHECK(last_comm == copy, "the handler hears on which communicator");

    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_TAG, MPI_Send(&value, 1, MPI_INT, 0, -5, copy));
    EQUAL(calls, 1);

    GIVES(MPI_ERR_COUNT, MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD));
    EQUAL(calls, 2);
    CHECK(last_comm == MPI_COMM_WORLD, "the handler hears on which communicator");

    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    EQUAL(calls, 3);
    EQUAL(last_class, MPI_ERR_OTHER);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == kept, "a handler lives as long as a communicator has it");
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&copy));
    return end();
}
