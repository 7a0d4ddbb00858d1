/* The last rank leaves while the others wait for it, in the way that the second argument names. By the first it has
   called MPI_Finalize, and exits with the status that the third may give, or exits with that status without having
   done so; a moment after its connections have ended, if the third is "late".
   MPI-5.0: Process Initialization, Finalizing MPI. */
#include "check.h"
#include <unistd.h>

enum { LONG = 1 << 22 };

static char message[LONG];
static int value;
static MPI_Request requests[2];

static void wait_by_messages(const char *how, int last, MPI_Comm comm) {
    MPI_Status status;
    MPI_Message taken;
    int index, indices[2], count;
    if (strcmp(how, "MPI_Recv") == 0)
        OK(MPI_Recv(&value, 1, MPI_INT, last, 0, comm, &status));
    else if (strcmp(how, "MPI_Probe") == 0)
        OK(MPI_Probe(last, 0, comm, &status));
    else if (strcmp(how, "MPI_Mprobe") == 0)
        OK(MPI_Mprobe(last, 0, comm, &taken, &status));
    else if (strcmp(how, "MPI_Ssend") == 0)
        OK(MPI_Ssend(&value, 1, MPI_INT, last, 0, comm));
    else if (strcmp(how, "MPI_Send") == 0)
        OK(MPI_Send(message, LONG, MPI_CHAR, last, 0, comm));
    else if (strcmp(how, "MPI_Sendrecv") == 0)
        OK(MPI_Sendrecv(&value, 1, MPI_INT, last, 0, &count, 1, MPI_INT, last, 0, comm, &status));
    OK(MPI_Irecv(&value, 1, MPI_INT, last, 0, comm, &requests[0]));
    OK(MPI_Issend(message, 1, MPI_CHAR, last, 0, comm, &requests[1]));
    if (strcmp(how, "MPI_Wait") == 0)
        OK(MPI_Wait(&requests[0], &status));
    else if (strcmp(how, "MPI_Waitall") == 0)
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    else if (strcmp(how, "MPI_Waitany") == 0)
        OK(MPI_Waitany(2, requests, &index, &status));
    else if (strcmp(how, "MPI_Waitsome") == 0)
        OK(MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
}

static void wait_by_buffers(const char *how, int last, MPI_Comm comm) {
    static char space[LONG + MPI_BSEND_OVERHEAD];
    void *place;
    int bytes;
    OK(MPI_Buffer_attach(space, sizeof(space)));
    OK(MPI_Bsend(message, LONG, MPI_CHAR, last, 0, comm));
    if (strcmp(how, "MPI_Buffer_flush") == 0)
        OK(MPI_Buffer_flush());
    OK(MPI_Buffer_detach(&place, &bytes));
}

/* A root gets ahead of its readers, but no further than its lines go. */
static void short_calls(int calls, MPI_Comm comm) {
    int i;
    for (i = 0; i < calls; i++)
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, comm));
}

static void wait_by_collectives(const char *how, int last, MPI_Comm comm) {
    MPI_Comm made;
    MPI_Group group;
    int sum;
    if (strcmp(how, "credit") == 0)
        short_calls(100, comm);
    else if (strcmp(how, "MPI_Allreduce") == 0)
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    else if (strcmp(how, "MPI_Bcast") == 0)
        OK(MPI_Bcast(message, LONG, MPI_CHAR, last, comm));
    else if (strcmp(how, "MPI_Gather") == 0) {
        void *lent;
        OK(MPI_Alloc_mem(LONG / 4, MPI_INFO_NULL, &lent));
        OK(MPI_Gather(lent, LONG / 4, MPI_CHAR, NULL, 0, MPI_CHAR, last, comm));
    } else if (strcmp(how, "MPI_Scatter") == 0) {
        /* A root waits as soon as it has scattered much that was not read, before its lines are all in use. */
        const int bytes = LONG / 8;
        void *own = rank == 0 ? MPI_IN_PLACE : message;
        int i;
        for (i = 0; i < 24; i++)
            OK(MPI_Scatter(message, bytes, MPI_CHAR, own, bytes, MPI_CHAR, 0, comm));
    } else if (strcmp(how, "MPI_Barrier") == 0)
        OK(MPI_Barrier(comm));
    else if (strcmp(how, "MPI_Comm_dup") == 0)
        OK(MPI_Comm_dup(comm, &made));
    OK(MPI_Comm_group(comm, &group));
    if (strcmp(how, "MPI_Comm_create_group") == 0)
        OK(MPI_Comm_create_group(comm, group, 3, &made));
    OK(MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

static void wait_by_partitions(const char *how, int last, MPI_Comm comm) {
    int is_send = strcmp(how, "send") == 0;
    if (is_send)
        OK(MPI_Psend_init(message, 2, 8, MPI_CHAR, last, 0, comm, MPI_INFO_NULL, &requests[0]));
    else
        OK(MPI_Precv_init(message, 2, 8, MPI_CHAR, last, 0, comm, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Start(&requests[0]));
    if (is_send)
        OK(MPI_Pready_range(0, 1, requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

/* As when the system takes long to end a process: peers elsewhere notice that before the launcher does. */
static void end_connections(void) {
    int file;
    for (file = 3; file < 1024; file++)
        close(file);
    usleep(300000);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Request start;
    int last, sum, is_late = argc > 3 && strcmp(argv[3], "late") == 0;
    begin(&argc, &argv);
    last = size - 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (is_late)
        OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &start));
    if (rank == last) {
        if (strcmp(argv[2], "collective:credit") == 0)
            short_calls(10, comm);
        if (is_late)
            end_connections();
        if (strcmp(argv[1], "finalize") != 0)
            _exit(atoi(argv[1]));
        OK(MPI_Finalize());
        printf("rank %d saves\n", rank);
        return argc > 3 ? atoi(argv[3]) : 0;
    }
    printf("rank %d waits", rank);
    if (strcmp(argv[2], "any") == 0)
        OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE));
    if (strcmp(argv[2], "MPI_Start") == 0) {
        OK(MPI_Start(&start));
        OK(MPI_Wait(&start, MPI_STATUS_IGNORE));
    }
    if (strncmp(argv[2], "collective:", 11) == 0)
        wait_by_collectives(argv[2] + 11, last, comm);
    if (strncmp(argv[2], "partitioned:", 12) == 0)
        wait_by_partitions(argv[2] + 12, last, comm);
    if (strncmp(argv[2], "MPI_Buffer", 10) == 0)
        wait_by_buffers(argv[2], last, comm);
    if (strcmp(argv[2], "MPI_Comm_disconnect") == 0) {
        OK(MPI_Irecv(&value, 1, MPI_INT, last, 0, comm, &requests[0]));
        OK(MPI_Comm_disconnect(&comm));
    }
    wait_by_messages(argv[2], last, comm);
    return end();
}
