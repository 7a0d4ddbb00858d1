/* Waitall and Testall over null, inactive, persistent and ordinary requests; Testall changes nothing until
   all are complete. MPI-5.0: Point-to-Point Communication, Multiple Completions. */
#include "check.h"

static int right, left, values[3];

static void post(MPI_Request *requests) {
    requests[0] = MPI_REQUEST_NULL;
    OK(MPI_Recv_init(&values[0], 1, MPI_INT, left, 0, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Irecv(&values[1], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Recv_init(&values[2], 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Start(&requests[3]));
}

static void check(MPI_Request *requests, const MPI_Status *statuses) {
    check_empty(&statuses[0]);
    check_empty(&statuses[1]);
    check_status(&statuses[2], left, 1, MPI_INT, 1);
    check_status(&statuses[3], left, 2, MPI_INT, 1);
    EQUAL(values[1], left + 1);
    EQUAL(values[2], left + 2);
    CHECK(requests[2] == MPI_REQUEST_NULL, "a completed request becomes null");
    CHECK(requests[1] != MPI_REQUEST_NULL && requests[3] != MPI_REQUEST_NULL, "persistent ones stay");
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Request_free(&requests[3]));
}

/* Error fields are there for MPI_ERR_IN_STATUS: else nobody touches them, but in what is empty.
   MPI-5.0: Point-to-Point Communication, Return Status. */
static void error_fields_are_left_alone(void) {
    for (int tests = 0; tests < 2; tests++) {
        MPI_Request requests[3] = {MPI_REQUEST_NULL};
        MPI_Status statuses[3] = {{.MPI_ERROR = 77}, {.MPI_ERROR = 77}, {.MPI_ERROR = 77}};
        int value = -1, flag = 0;
        OK(MPI_Irecv(&value, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Isend(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD, &requests[2]));
        while (!flag)
            OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
        EQUAL(statuses[1].MPI_ERROR, 77);
        statuses[0].MPI_ERROR = statuses[2].MPI_ERROR = 77;
        if (tests)
            OK(MPI_Testall(3, requests, &flag, statuses));
        else
            OK(MPI_Waitall(3, requests, statuses));
        CHECK(flag, "they were complete before");
        check_empty(&statuses[0]);
        EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
        check_status(&statuses[1], left, 4, MPI_INT, 1);
        EQUAL(statuses[1].MPI_ERROR, 77);
        EQUAL(statuses[2].MPI_ERROR, 77);
    }
}

int main(int argc, char **argv) {
    MPI_Request requests[4], before;
    MPI_Status statuses[4];
    int flag = 1;
    begin(&argc, &argv);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    int one = rank + 1, two = rank + 2;

    post(requests);
    OK(MPI_Send(&two, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
    OK(MPI_Send(&one, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    OK(MPI_Waitall(4, requests, statuses));
    check(requests, statuses);

    post(requests);
    before = requests[2];
    OK(MPI_Send(&one, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    for (int i = 0; i < 50; i++) {
        OK(MPI_Testall(4, requests, &flag, statuses));
        CHECK(!flag && requests[2] == before, "one is missing: nothing is reported");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&two, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
    do
        OK(MPI_Testall(4, requests, &flag, statuses));
    while (!flag);
    check(requests, statuses);
    error_fields_are_left_alone();

    MPI_Request nothing[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    OK(MPI_Waitall(2, nothing, statuses));
    OK(MPI_Testall(2, nothing, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag, "null requests are complete");
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    return end();
}
