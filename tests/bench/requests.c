/* What requests cost: requests BATCHES, run by requests.py.

   Prints lines "name ns": the first percentile of so many batches, so that it says what a thing costs when nothing else
   happens. Two ranks exchange messages of 8 bytes:

   - blocking, nonblocking, persistent: a message there and one back, by MPI_Send and MPI_Recv, by MPI_Isend or MPI_Irecv
     and MPI_Wait, by MPI_Start and MPI_Wait; ns of a message.
   - window, persistent_window: 64 messages in one direction, whose receives were mostly started before, completed together,
     and then a short answer; ns of a message.

   One rank has 10,000 receives under way:

   - testany, testsome: none of them is over; ns of a request.
   - waitany: the last one is; ns of a request.
   - self: a message to itself, by MPI_Irecv, MPI_Isend and MPI_Waitall; ns of a message. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW = 64, PENDING = 10000, WARM = 50 };

static int rank, batches;
static double *times;
static MPI_Comm comm;
static char from[8], into[WINDOW][8];
static MPI_Request requests[PENDING], persistent[WINDOW];

static void blocking(void) {
    if (rank == 0)
        MPI_Send(from, 8, MPI_BYTE, 1, 0, comm);
    MPI_Recv(into[0], 8, MPI_BYTE, !rank, 0, comm, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(from, 8, MPI_BYTE, 0, 0, comm);
}

static void wait_for(MPI_Request request) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void send_one(void) {
    MPI_Request request;
    MPI_Isend(from, 8, MPI_BYTE, !rank, 0, comm, &request);
    wait_for(request);
}

static void nonblocking(void) {
    MPI_Request request;
    if (rank == 0)
        send_one();
    MPI_Irecv(into[0], 8, MPI_BYTE, !rank, 0, comm, &request);
    wait_for(request);
    if (rank == 1)
        send_one();
}

static void started(MPI_Request *request) {
    MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void persistent_messages(void) {
    if (rank == 0)
        started(&persistent[0]);
    started(&persistent[1]);
    if (rank == 1)
        started(&persistent[0]);
}

static void answer(void) {
    if (rank == 0)
        MPI_Recv(into[0], 8, MPI_BYTE, 1, 1, comm, MPI_STATUS_IGNORE);
    else
        MPI_Send(from, 8, MPI_BYTE, 0, 1, comm);
}

static void window(void) {
    for (int at = 0; at < WINDOW; at++)
        if (rank == 0)
            MPI_Isend(from, 8, MPI_BYTE, 1, 0, comm, &requests[at]);
        else
            MPI_Irecv(into[at], 8, MPI_BYTE, 0, 0, comm, &requests[at]);
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    answer();
}

static void persistent_window(void) {
    MPI_Startall(WINDOW, persistent);
    MPI_Waitall(WINDOW, persistent, MPI_STATUSES_IGNORE);
    answer();
}

static void testany(void) {
    int index, flag;
    MPI_Testany(PENDING, requests, &index, &flag, MPI_STATUS_IGNORE);
    if (flag)
        MPI_Abort(comm, 1);
}

static void testsome(void) {
    static int indices[PENDING];
    int count;
    MPI_Testsome(PENDING, requests, &count, indices, MPI_STATUSES_IGNORE);
    if (count)
        MPI_Abort(comm, 1);
}

static void waitany(void) {
    int index;
    MPI_Send(from, 8, MPI_BYTE, 0, PENDING - 1, comm);
    MPI_Waitany(PENDING, requests, &index, MPI_STATUS_IGNORE);
    if (index != PENDING - 1)
        MPI_Abort(comm, 1);
    MPI_Irecv(into[0], 8, MPI_BYTE, 0, index, comm, &requests[index]);
}

static void to_itself(void) {
    MPI_Request both[2];
    MPI_Irecv(into[0], 8, MPI_BYTE, 0, PENDING, comm, &both[0]);
    MPI_Isend(from, 8, MPI_BYTE, 0, PENDING, comm, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

/* Measures what happens `parts` times in one call, of which there are so many in a batch. */
static void measure(const char *name, void (*one)(void), int parts, int in_batch) {
    for (int i = 0; i < WARM * in_batch; i++)
        one();
    MPI_Barrier(comm);
    for (int batch = 0; batch < batches; batch++) {
        double begin = now_ns();
        for (int i = 0; i < in_batch; i++)
            one();
        times[batch] = (now_ns() - begin) / in_batch / parts;
    }
    MPI_Barrier(comm);
    qsort(times, batches, sizeof *times, ascending);
    if (rank == 0) {
        printf("%s %.2f\n", name, times[batches / 100]);
        fflush(stdout);
    }
}

static void with_another(void) {
    measure("blocking", blocking, 2, 200);
    measure("nonblocking", nonblocking, 2, 200);
    MPI_Send_init(from, 8, MPI_BYTE, !rank, 0, comm, &persistent[0]);
    MPI_Recv_init(into[0], 8, MPI_BYTE, !rank, 0, comm, &persistent[1]);
    measure("persistent", persistent_messages, 2, 200);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
    measure("window", window, WINDOW, 20);
    for (int at = 0; at < WINDOW; at++)
        if (rank == 0)
            MPI_Send_init(from, 8, MPI_BYTE, 1, 0, comm, &persistent[at]);
        else
            MPI_Recv_init(into[at], 8, MPI_BYTE, 0, 0, comm, &persistent[at]);
    measure("persistent_window", persistent_window, WINDOW, 20);
    for (int at = 0; at < WINDOW; at++)
        MPI_Request_free(&persistent[at]);
}

static void alone(void) {
    measure("self", to_itself, 1, 200);
    for (int at = 0; at < PENDING; at++)
        MPI_Irecv(into[at % WINDOW], 8, MPI_BYTE, 0, at, comm, &requests[at]);
    batches = (batches + 9) / 10;
    measure("testany", testany, PENDING, 4);
    measure("testsome", testsome, PENDING, 4);
    batches = (batches + 9) / 10;
    measure("waitany", waitany, PENDING, 1);
    for (int at = 0; at < PENDING; at++)
        MPI_Cancel(&requests[at]);
    MPI_Waitall(PENDING, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    int size;
    batches = argc > 1 ? atoi(argv[1]) : 1000;
    times = malloc(sizeof *times * batches);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (size == 2)
        with_another();
    else
        alone();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
