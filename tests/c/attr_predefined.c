/* What is cached on every communicator from the start.
   MPI-5.0: MPI Environmental Management, Implementation Information. */
#include "check.h"

static int attribute(MPI_Comm comm, int keyval) {
    int *found, flag;
    OK(MPI_Comm_get_attr(comm, keyval, &found, &flag));
    CHECK(flag, "predefined attribute %d is set", keyval);
    return *found;
}

int main(int argc, char **argv) {
    int *last, flag, code, *number, on_node;
    MPI_Comm copy, node;
    begin(&argc, &argv);
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &on_node));
    OK(MPI_Comm_free(&node));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, copy};
    for (int i = 0; i < 3; i++) {
        CHECK(attribute(comms[i], MPI_TAG_UB) >= 32767, "the least upper bound of tags");
        EQUAL(attribute(comms[i], MPI_HOST), MPI_PROC_NULL);
        EQUAL(attribute(comms[i], MPI_IO), MPI_ANY_SOURCE);
        EQUAL(attribute(comms[i], MPI_WTIME_IS_GLOBAL), on_node == size);
        EQUAL(attribute(comms[i], MPI_UNIVERSE_SIZE), size);
        CHECK(attribute(comms[i], MPI_LASTUSEDCODE) >= MPI_ERR_LASTCODE, "codes of the standard are in use");
        OK(MPI_Comm_get_attr(comms[i], MPI_APPNUM, &number, &flag));
        CHECK(flag && *number == (argc > 1 ? atoi(argv[1]) : 0), "the number of the program in the command");
    }
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    OK(MPI_Add_error_class(&code));
    EQUAL(*last, code);
    OK(MPI_Add_error_code(MPI_ERR_ARG, &code));
    EQUAL(*last, code);
    OK(MPI_Comm_free(&copy));

    /* Clocks of all ranks of a node show the same time. */
    double before = MPI_Wtime(), early, late;
    OK(MPI_Allreduce(&before, &late, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    double after = MPI_Wtime();
    OK(MPI_Allreduce(&after, &early, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    CHECK(late <= early, "a time before the reduction, %g, is not after one behind it, %g", late, early);
    return end();
}
