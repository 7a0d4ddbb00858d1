/* Waitsome and Testsome report each completion exactly once; persistent requests become inactive.
   MPI-5.0: Point-to-Point Communication, Multiple Completions. */
#include "check.h"

enum { COUNT = 24 };

static void collect(MPI_Request *receives, const int *values, int tests) {
    int left = (rank + size - 1) % size, indices[COUNT], found, seen[COUNT] = {0};
    MPI_Status statuses[COUNT];
    for (int missing = COUNT; missing > 0; missing -= found) {
        for (int i = 0; i < COUNT; i++)
            statuses[i].MPI_ERROR = 77;
        OK(MPI_Request_get_status_some(COUNT, receives, &found, indices, statuses));
        for (int i = 0; i < found; i++)
            EQUAL(statuses[i].MPI_ERROR, 77);
        if (tests)
            OK(MPI_Testsome(COUNT, receives, &found, indices, statuses));
        else
            OK(MPI_Waitsome(COUNT, receives, &found, indices, statuses));
        CHECK(found >= !tests && found <= missing, "%d of %d", found, missing);
        for (int i = 0; i < found; i++) {
            CHECK(!seen[indices[i]], "%d is reported twice", indices[i]);
            seen[indices[i]] = 1;
            check_status(&statuses[i], left, indices[i], MPI_INT, 1);
            EQUAL(statuses[i].MPI_ERROR, 77); /* nothing has failed */
            EQUAL(values[indices[i]], left);
        }
    }
    OK(MPI_Waitsome(COUNT, receives, &found, indices, statuses));
    EQUAL(found, MPI_UNDEFINED);
    OK(MPI_Testsome(COUNT, receives, &found, indices, statuses));
    EQUAL(found, MPI_UNDEFINED);
}

int main(int argc, char **argv) {
    MPI_Request receives[COUNT];
    int values[COUNT];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i += 2)
        OK(MPI_Recv_init(&values[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]));
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++) {
            values[i] = -1;
            if (i % 2 == 0)
                OK(MPI_Start(&receives[i]));
            else
                OK(MPI_Irecv(&values[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]));
        }
        for (int i = 0; i < COUNT; i++)
            OK(MPI_Send(&rank, 1, MPI_INT, right, (i * 5) % COUNT, MPI_COMM_WORLD));
        collect(receives, values, round % 2);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    for (int i = 0; i < COUNT; i += 2)
        OK(MPI_Request_free(&receives[i]));
    return end();
}
