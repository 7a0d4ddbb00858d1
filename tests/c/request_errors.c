/* When one of several operations fails, MPI_ERR_IN_STATUS sends the program to the statuses, which name the
   error of each; an error handler hears the error of one at once. MPI-5.0: Point-to-Point Communication, Multiple Completions. */
#include "check.h"

enum { COUNT = 5, WRONG = 2 };

static int buffers[COUNT][4], heard;

static void hear(MPI_Comm *comm, int *code, ...) {
    EQUAL(*comm == MPI_COMM_WORLD, 1);
    EQUAL(class_of(*code), MPI_ERR_TRUNCATE);
    CHECK(strstr(text_of(*code), "array_of_requests[2]"), "%s", text_of(*code));
    heard++;
}

static void post(MPI_Request *receives) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, message[4] = {rank, rank, rank, rank};
    for (int i = 0; i < COUNT; i++)
        OK(MPI_Irecv(buffers[i], i == WRONG ? 1 : 4, MPI_INT, left, i, MPI_COMM_WORLD, &receives[i]));
    for (int i = 0; i < COUNT; i++)
        OK(MPI_Send(message, 4, MPI_INT, right, i, MPI_COMM_WORLD));
}

static void check(const MPI_Status *status, int index) {
    int left = (rank + size - 1) % size;
    EQUAL(class_of(status->MPI_ERROR), index == WRONG ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    EQUAL(status->MPI_TAG, index);
    EQUAL(buffers[index][0], left);
}

int main(int argc, char **argv) {
    MPI_Request receives[COUNT];
    MPI_Status statuses[COUNT];
    MPI_Errhandler handler;
    int found, indices[COUNT], code;
    begin(&argc, &argv);
    post(receives);
    GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(COUNT, receives, statuses));
    for (int i = 0; i < COUNT; i++) {
        check(&statuses[i], i);
        CHECK(receives[i] == MPI_REQUEST_NULL, "request %d is complete", i);
    }
    post(receives);
    for (int missing = COUNT; missing > 0; missing -= found) {
        int failed = 0;
        for (int i = 0; i < COUNT; i++)
            statuses[i].MPI_ERROR = 77;
        code = MPI_Waitsome(COUNT, receives, &found, indices, statuses);
        for (int i = 0; i < found; i++)
            failed |= indices[i] == WRONG;
        EQUAL(class_of(code), failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
        for (int i = 0; failed && i < found; i++)
            check(&statuses[i], indices[i]);
        for (int i = failed ? found : 0; i < COUNT; i++)
            EQUAL(statuses[i].MPI_ERROR, 77);
    }
    post(receives);
    for (int i = 0; i < COUNT; i++) {
        int index;
        MPI_Status status = {.MPI_ERROR = 77};
        code = MPI_Waitany(COUNT, receives, &index, &status);
        EQUAL(status.MPI_ERROR, 77);
        EQUAL(class_of(code), index == WRONG ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    }
    OK(MPI_Comm_create_errhandler(hear, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    post(receives);
    code = MPI_Waitall(COUNT, receives, statuses);
    EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    CHECK(strstr(text_of(code), "1 of the operations failed"), "%s", text_of(code));
    post(receives);
    do
        code = MPI_Testall(COUNT, receives, &found, statuses);
    while (!found);
    EQUAL(class_of(code), MPI_ERR_IN_STATUS);
    EQUAL(heard, 2);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
    return end();
}
