/* A partition can be seen to have arrived before others are ready; none has before its send has marked it. Of a null
   and of an inactive request each partition has. A send of no elements is complete when all is ready, one to
   MPI_PROC_NULL too. MPI-5.0: Partitioned Point-to-Point Communication, Communication Completion under Partitioning. */
#include "check.h"

enum { PARTITIONS = 6, COUNT = 500 };

static int has_arrived(MPI_Request request, int partition) {
    int flag = -1;
    OK(MPI_Parrived(request, partition, &flag));
    CHECK(flag == 0 || flag == 1, "%d is no flag", flag);
    return flag;
}

/* Of three partitions of a receive each holds two of the send. */
static void early(int right, int left) {
    static int out[PARTITIONS * COUNT], in[PARTITIONS * COUNT];
    MPI_Request send, receive;
    OK(MPI_Psend_init(out, PARTITIONS, COUNT, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, 3, 2 * COUNT, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    CHECK(has_arrived(receive, 2), "it is inactive");
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PARTITIONS * COUNT; i++)
            out[i] = 10000 * round + i + rank;
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        for (int i = 0; i < 3; i++)
            CHECK(!has_arrived(receive, i), "nothing is ready");
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Pready_list(3, (int[]){4, 1, 5}, send));
        while (!has_arrived(receive, 2))
            ;
        for (int i = 4 * COUNT; i < 6 * COUNT; i++)
            EQUAL(in[i], 10000 * round + i + left);
        CHECK(!has_arrived(receive, 0) && !has_arrived(receive, 1), "they are not ready");
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Pready(0, send));
        while (!has_arrived(receive, 0))
            ;
        CHECK(!has_arrived(receive, 1) && has_arrived(receive, 2), "one is not ready");
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Pready_range(2, 3, send));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++)
            CHECK(has_arrived(receive, i), "it is inactive");
        for (int i = 0; i < PARTITIONS * COUNT; i++)
            EQUAL(in[i], 10000 * round + i + left);
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

/* More than are sent one by one: what is marked goes on its way when its rank does something else. */
static void many(int right, int left) {
    enum { MANY = 10000 };
    static char out[MANY], in[MANY];
    MPI_Request send, receive;
    memset(out, 'a' + rank % 26, MANY);
    OK(MPI_Psend_init(out, MANY, 1, MPI_CHAR, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, MANY, 1, MPI_CHAR, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    OK(MPI_Startall(2, (MPI_Request[]){send, receive}));
    OK(MPI_Pready(77, send));
    while (!has_arrived(receive, 77))
        ;
    EQUAL(in[77], 'a' + left % 26);
    CHECK(!has_arrived(receive, 78), "it is not ready");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MANY; i++)
        if (i != 77)
            OK(MPI_Pready(i, send));
    OK(MPI_Waitall(2, (MPI_Request[]){send, receive}, MPI_STATUSES_IGNORE));
    EQUAL(memcmp(in, in + 1, MANY - 1), 0);
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

static void nothing(int right, int left) {
    MPI_Request send, receive;
    MPI_Status status;
    int flag;
    OK(MPI_Psend_init(NULL, 2, 0, MPI_INT, right, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(NULL, 3, 0, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        OK(MPI_Pready(1, send));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Test(&receive, &flag, &status));
        CHECK(!flag && !has_arrived(receive, 0), "one partition is not ready");
        OK(MPI_Test(&send, &flag, &status));
        CHECK(!flag, "one partition is not ready");
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Pready(0, send));
        OK(MPI_Wait(&receive, &status));
        check_status(&status, left, 3, MPI_INT, 0);
        OK(MPI_Wait(&send, &status));
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

static void nobody(void) {
    int data[4] = {1, 2, 3, 4}, flag;
    MPI_Request send, receive;
    MPI_Status status;
    OK(MPI_Psend_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(data, 4, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&send));
        OK(MPI_Pready_range(0, 2, send));
        OK(MPI_Test(&send, &flag, &status));
        CHECK(!flag, "one partition is not ready");
        OK(MPI_Pready(3, send));
        OK(MPI_Wait(&send, &status));
        OK(MPI_Start(&receive));
        CHECK(has_arrived(receive, 3), "nobody is waited for");
        OK(MPI_Wait(&receive, &status));
        check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_INT, 0);
    }
    EQUAL(data[3], 4);
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    CHECK(has_arrived(MPI_REQUEST_NULL, 5), "it is null");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    early(right, left);
    many(right, left);
    nothing(right, left);
    nobody();
    return end();
}
