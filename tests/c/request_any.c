/* Waitany and Testany report one completion at a time, and MPI_UNDEFINED when none is active.
   MPI-5.0: Point-to-Point Communication, Multiple Completions. */
#include "check.h"

enum { COUNT = 20 };

static void post(MPI_Request *receives, int *values) {
    int left = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i++) {
        values[i] = -1;
        OK(MPI_Irecv(&values[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]));
    }
}

static void note(int index, int *seen, const int *values, const MPI_Status *status) {
    int left = (rank + size - 1) % size;
    CHECK(index >= 0 && index < COUNT && !seen[index], "index %d", index);
    check_status(status, left, index, MPI_INT, 1);
    EQUAL(values[index], left);
    seen[index] = 1;
}

int main(int argc, char **argv) {
    MPI_Request receives[COUNT];
    MPI_Status status;
    int values[COUNT], index, flag;
    begin(&argc, &argv);
    int right = (rank + 1) % size;
    for (int round = 0; round < 2; round++) {
        int seen[COUNT] = {0};
        post(receives, values);
        OK(MPI_Testany(COUNT, receives, &index, &flag, &status));
        CHECK(!flag || size == 1 || index != MPI_UNDEFINED, "requests are active");
        if (flag)
            note(index, seen, values, &status);
        for (int i = COUNT - 1; i >= 0; i--)
            OK(MPI_Send(&rank, 1, MPI_INT, right, (i * 7) % COUNT, MPI_COMM_WORLD));
        for (int left_over = COUNT - flag; left_over > 0;) {
            if (round == 0) {
                OK(MPI_Waitany(COUNT, receives, &index, &status));
                flag = 1;
            } else {
                OK(MPI_Testany(COUNT, receives, &index, &flag, &status));
            }
            if (flag) {
                note(index, seen, values, &status);
                left_over--;
            }
        }
        OK(MPI_Waitany(COUNT, receives, &index, &status));
        EQUAL(index, MPI_UNDEFINED);
        check_empty(&status);
        OK(MPI_Testany(COUNT, receives, &index, &flag, &status));
        CHECK(flag && index == MPI_UNDEFINED, "no request is active");
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return end();
}
