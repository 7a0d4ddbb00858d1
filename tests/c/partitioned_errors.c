/* What may not be done with partitioned requests is an error, by the handler of their communicator, with a text that
   names function, argument and value, and leaves them as they were. MPI-5.0: Partitioned Point-to-Point Communication,
   Communication Initialization and Starting with Partitioning. */
#include "check.h"

static int heard;
static char last[MPI_MAX_ERROR_STRING];

static void hear(MPI_Comm *comm, int *code, ...) {
    int length;
    (void)comm;
    heard++;
    MPI_Error_string(*code, last, &length);
}

/* The error is of this class, was heard once, and its text has these words. */
#define SAYS(class, call, first, second)                                                            \
    do {                                                                                            \
        heard = 0;                                                                                  \
        GIVES(class, call);                                                                         \
        EQUAL(heard, 1);                                                                            \
        CHECK(strstr(last, first) && strstr(last, second), "the text is %s", last);                 \
    } while (0)

static void misuse(MPI_Comm comm, int right, int left) {
    int out[4] = {1, 2, 3, rank}, in[4], flag;
    MPI_Request send, receive, plain;
    OK(MPI_Psend_init(out, 4, 1, MPI_INT, right, 0, comm, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, 4, 1, MPI_INT, left, 0, comm, MPI_INFO_NULL, &receive));
    OK(MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &plain));
    for (int round = 0; round < 2; round++) {
        SAYS(MPI_ERR_REQUEST, MPI_Pready(0, send), "MPI_Pready", "inactive");
        SAYS(MPI_ERR_REQUEST, MPI_Pready_range(0, 3, send), "MPI_Pready_range", "inactive");
        SAYS(MPI_ERR_REQUEST, MPI_Pready_list(1, (int[]){0}, send), "MPI_Pready_list", "inactive");
        SAYS(MPI_ERR_REQUEST, MPI_Cancel(&send), "MPI_Cancel", "partitioned");
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        SAYS(MPI_ERR_REQUEST, MPI_Start(&send), "MPI_Start", "active");
        SAYS(MPI_ERR_REQUEST, MPI_Request_free(&send), "MPI_Request_free", "active partitioned");
        SAYS(MPI_ERR_REQUEST, MPI_Request_free(&receive), "MPI_Request_free", "active partitioned");
        SAYS(MPI_ERR_REQUEST, MPI_Cancel(&receive), "MPI_Cancel", "partitioned");
        SAYS(MPI_ERR_REQUEST, MPI_Pready(0, receive), "request", "a receive");
        SAYS(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag), "request", "a send");
        SAYS(MPI_ERR_REQUEST, MPI_Pready(0, plain), "request", "not partitioned");
        SAYS(MPI_ERR_REQUEST, MPI_Parrived(plain, 0, &flag), "request", "not partitioned");
        SAYS(MPI_ERR_ARG, MPI_Pready(4, send), "partition is 4", "4 partitions");
        SAYS(MPI_ERR_ARG, MPI_Pready(-1, send), "partition is -1", "4 partitions");
        SAYS(MPI_ERR_ARG, MPI_Pready_range(1, 4, send), "partition_high is 4", "4 partitions");
        SAYS(MPI_ERR_ARG, MPI_Pready_list(2, (int[]){0, 7}, send), "array_of_partitions[1] is 7", "4 partitions");
        SAYS(MPI_ERR_ARG, MPI_Parrived(receive, 4, &flag), "partition is 4", "4 partitions");
        OK(MPI_Pready_range(2, 1, send));
        OK(MPI_Pready_list(0, NULL, send));
        OK(MPI_Pready(2, send));
        SAYS(MPI_ERR_ARG, MPI_Pready(2, send), "MPI_Pready", "partition 2");
        SAYS(MPI_ERR_ARG, MPI_Pready_range(1, 3, send), "MPI_Pready_range", "partition 2");
        OK(MPI_Pready(0, send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EQUAL(in[3], left);
    }
    MPI_Request freed[] = {send, receive};
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    OK(MPI_Request_free(&plain));
    GIVES(MPI_ERR_REQUEST, MPI_Pready(0, freed[0]));
    GIVES(MPI_ERR_REQUEST, MPI_Parrived(freed[1], 0, &flag));
    GIVES(MPI_ERR_REQUEST, MPI_Pready(0, MPI_REQUEST_NULL));
    SAYS(MPI_ERR_ARG, MPI_Psend_init(out, 0, 1, MPI_INT, right, 0, comm, MPI_INFO_NULL, &send), "partitions is 0", "");
    SAYS(MPI_ERR_ARG, MPI_Precv_init(in, -3, 1, MPI_INT, left, 0, comm, MPI_INFO_NULL, &send), "partitions is -3", "");
    SAYS(MPI_ERR_RANK, MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &send),
         "MPI_Precv_init", "MPI_ANY_SOURCE");
    SAYS(MPI_ERR_TAG, MPI_Precv_init(in, 1, 1, MPI_INT, left, MPI_ANY_TAG, comm, MPI_INFO_NULL, &send),
         "MPI_Precv_init", "MPI_ANY_TAG");
}

/* Both sides hear that they do not agree, at each round, and nothing is written. */
static void unequal(MPI_Comm comm, int right, int left) {
    int out[6] = {0}, in[6] = {7, 7, 7, 7, 7, 7};
    for (int more = 0; more < 2; more++) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        OK(MPI_Psend_init(out, 2, 2 + more, MPI_INT, right, 1, comm, MPI_INFO_NULL, &requests[0]));
        OK(MPI_Precv_init(in, 1, 6 - 2 * more, MPI_INT, left, 1, comm, MPI_INFO_NULL, &requests[1]));
        for (int round = 0; round < 2; round++) {
            OK(MPI_Startall(2, requests));
            /* It may be known already that this is in vain. */
            MPI_Pready_range(0, 1, requests[0]);
            GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
            EQUAL(class_of(statuses[0].MPI_ERROR), MPI_ERR_TRUNCATE);
            EQUAL(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
            EQUAL(in[0], 7);
        }
        OK(MPI_Request_free(&requests[0]));
        OK(MPI_Request_free(&requests[1]));
    }
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(hear, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Errhandler_free(&handler));
    misuse(comm, right, left);
    unequal(comm, right, left);
    OK(MPI_Comm_free(&comm));
    return end();
}
