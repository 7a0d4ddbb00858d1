/* Messages between two processes: there and back, and many in a window. Rank 0 and rank 1, or the first of either group,
   take part; the others wait for the next point. */
#include "bench.h"

/* Messages of a window under way at once. */
#define WINDOW 64

static int partner, width;
static long elements;

static bool takes_part(void) {
    return inter ? local_rank == 0 : rank < 2 && size > 1;
}

/* Whether this process sends first. */
static bool leads(void) {
    return rank == 0;
}

/* The bytes that windows of messages of `longest` bytes need. */
size_t pairs_room(long longest) {
    return (size_t)WINDOW * (size_t)(longest > MOST_WINDOW_BYTES / WINDOW ? MOST_WINDOW_BYTES / WINDOW : longest);
}

/* No two messages of a window are received in one place, so that one of long messages has fewer. */
void pairs_prepare(void) {
    partner = inter ? 0 : 1 - rank;
    elements = point.bytes / (long)sizeof *from;
    long fit = MOST_WINDOW_BYTES / point.bytes;
    width = point.id == PING_PONG ? 1 : fit < 1 ? 1 : fit < WINDOW ? (int)fit : WINDOW;
}

int pairs_requests(void) {
    return !takes_part() ? 0 : point.id == PING_PONG ? 2 : width;
}

static int send_one(enum lifetime lifetime, int slot, MPI_Request *request) {
    const double *at = from + slot * elements;
    const int count = (int)elements;
    return lifetime == BLOCKING      ? MPI_Send(at, count, MPI_DOUBLE, partner, 0, comm)
           : lifetime == NONBLOCKING ? MPI_Isend(at, count, MPI_DOUBLE, partner, 0, comm, request)
                                     : MPI_Send_init(at, count, MPI_DOUBLE, partner, 0, comm, request);
}

static int receive_one(enum lifetime lifetime, int slot, MPI_Request *request) {
    double *at = into + slot * elements;
    const int count = (int)elements;
    return lifetime == BLOCKING      ? MPI_Recv(at, count, MPI_DOUBLE, partner, 0, comm, MPI_STATUS_IGNORE)
           : lifetime == NONBLOCKING ? MPI_Irecv(at, count, MPI_DOUBLE, partner, 0, comm, request)
                                     : MPI_Recv_init(at, count, MPI_DOUBLE, partner, 0, comm, request);
}

/* The persistent requests: one to send and one to receive, or those of a window. */
int pairs_make(MPI_Request *requests) {
    int code = MPI_SUCCESS, made = pairs_requests();
    for (int k = 0; k < made; k++) {
        bool sends = point.id == PING_PONG ? k == 0 : leads();
        int slot = point.id == PING_PONG ? 0 : k;
        code |= sends ? send_one(PERSISTENT, slot, &requests[k]) : receive_one(PERSISTENT, slot, &requests[k]);
    }
    return code;
}

/* Messages of an iteration. */
int pairs_messages(void) {
    return point.id == PING_PONG ? 2 : width;
}

static int there_and_back(MPI_Request *requests) {
    int code = MPI_SUCCESS;
    for (int i = 0; i < 2; i++) {
        bool sends = (i == 0) == leads();
        MPI_Request fresh, *request = point.lifetime == PERSISTENT ? &requests[!sends] : &fresh;
        if (used && sends)
            data_made(from, elements);
        if (point.lifetime == PERSISTENT)
            code |= MPI_Start(request);
        else
            code |= sends ? send_one(point.lifetime, 0, request) : receive_one(point.lifetime, 0, request);
        if (point.lifetime != BLOCKING)
            code |= MPI_Wait(request, MPI_STATUS_IGNORE);
        if (used && !sends)
            data_read(into, elements);
    }
    return code;
}

/* A window, and a word back. */
static int window(MPI_Request *requests) {
    if (used && leads())
        data_made(from, width * elements);
    int code = point.lifetime == PERSISTENT ? MPI_Startall(width, requests) : MPI_SUCCESS;
    for (int k = 0; k < width && point.lifetime != PERSISTENT; k++)
        code |= leads() ? send_one(point.lifetime, k, &requests[k]) : receive_one(point.lifetime, k, &requests[k]);
    if (point.lifetime != BLOCKING)
        code |= MPI_Waitall(width, requests, MPI_STATUSES_IGNORE);
    if (used && !leads())
        data_read(into, width * elements);
    return code | (leads() ? MPI_Recv(NULL, 0, MPI_BYTE, partner, 1, comm, MPI_STATUS_IGNORE)
                           : MPI_Send(NULL, 0, MPI_BYTE, partner, 1, comm));
}

int pairs_loop(long iterations, MPI_Request *requests) {
    int code = MPI_SUCCESS;
    for (long i = 0; i < iterations && takes_part(); i++)
        code |= point.id == PING_PONG ? there_and_back(requests) : window(requests);
    return code;
}

void pairs_fill(int batch) {
    for (int k = 0; k < width; k++)
        for (long i = 0; i < elements; i++) {
            from[k * elements + i] = value(rank, k, batch, i);
            into[k * elements + i] = -1;
        }
}

long pairs_wrong(int batch) {
    long wrong = 0;
    int received = !takes_part() || (point.id == WINDOWED && leads()) ? 0 : width;
    int source = inter ? remote.base : partner;
    for (int k = 0; k < received; k++)
        for (long i = 0; i < elements; i++)
            wrong += into[k * elements + i] != value(source, k, batch, i);
    return wrong;
}
