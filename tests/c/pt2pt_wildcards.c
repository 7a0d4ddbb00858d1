/* Receives with wildcards take messages of any source and tag, and the status says which.
   MPI-5.0: Point-to-Point Communication, Blocking Receive Operation. */
#include "check.h"

static void from_anywhere(void) {
    int from[64] = {0}, value;
    MPI_Status status;
    for (int i = 0; i < size * 2; i++) {
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        int source = status.MPI_SOURCE;
        CHECK(source >= 0 && source < size, "source %d", source);
        check_status(&status, source, from[source], MPI_INT, 1);
        EQUAL(value, 100 * source + from[source]);
        from[source]++;
    }
    for (int source = 0; source < size; source++)
        EQUAL(from[source], 2);
}

/* A tag that is asked for is received although messages of other tags came earlier. */
static void by_tag(void) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, value;
    MPI_Request sends[5];
    int values[5] = {0, 1, 2, 3, 4};
    MPI_Status status;
    for (int tag = 0; tag < 5; tag++)
        OK(MPI_Isend(&values[tag], 1, MPI_INT, right, tag, MPI_COMM_WORLD, &sends[tag]));
    for (int tag = 4; tag >= 0; tag--) {
        int source = tag % 2 ? left : MPI_ANY_SOURCE;
        OK(MPI_Recv(&value, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &status));
        check_status(&status, left, tag, MPI_INT, 1);
        EQUAL(value, tag);
    }
    OK(MPI_Waitall(5, sends, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    MPI_Request sends[128];
    int values[2];
    begin(&argc, &argv);
    for (int tag = 0; tag < 2; tag++) {
        values[tag] = 100 * rank + tag;
        for (int dest = 0; dest < size; dest++)
            OK(MPI_Isend(&values[tag], 1, MPI_INT, dest, tag, MPI_COMM_WORLD, &sends[tag * size + dest]));
    }
    from_anywhere();
    OK(MPI_Waitall(2 * size, sends, MPI_STATUSES_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    by_tag();
    return end();
}
