/* An operation that was begun goes on while its rank waits in any other call: the last rank completes it first and
   only then does what the others wait for. Its completion says nothing of what was posted before or after it.
   MPI-5.0: Collective Communication, Nonblocking Collective Operations; Point-to-Point Communication, Progress. */
#include "sorts.h"

enum { LONG = 20000 };

enum {
    IN_RECV, IN_PROBE, IN_MPROBE, IN_SSEND, IN_SENDRECV, IN_WAIT, IN_WAITANY, IN_WAITSOME, IN_TEST, IN_BCAST, IN_DUP,
    PLACES
};

static int token;
static MPI_Comm ring;

/* What the others wait in; the last rank does its part of it. */
static void wait_in(int place, MPI_Comm comm) {
    int last = size - 1, is_last = rank == last, found = 0, index;
    MPI_Status status;
    MPI_Message message;
    MPI_Request receive = MPI_REQUEST_NULL;
    MPI_Comm copy;
    if (place >= IN_WAIT && place <= IN_TEST && !is_last)
        OK(MPI_Irecv(&token, 1, MPI_INT, last, place, comm, &receive));
    for (int r = 0; r < last && is_last && place != IN_BCAST && place != IN_DUP; r++)
        if (place == IN_SSEND)
            OK(MPI_Recv(&token, 1, MPI_INT, r, place, comm, &status));
        else
            OK(MPI_Send(&token, 1, MPI_INT, r, place, comm));
    if (place == IN_BCAST)
        OK(MPI_Bcast(&token, 1, MPI_INT, last, comm));
    if (place == IN_DUP) {
        OK(MPI_Comm_dup(comm, &copy));
        OK(MPI_Comm_free(&copy));
    }
    if (is_last)
        return;
    if (place == IN_PROBE)
        OK(MPI_Probe(last, place, comm, &status));
    if (place == IN_RECV || place == IN_PROBE)
        OK(MPI_Recv(&token, 1, MPI_INT, last, place, comm, &status));
    if (place == IN_MPROBE) {
        OK(MPI_Mprobe(last, place, comm, &message, &status));
        OK(MPI_Mrecv(&token, 1, MPI_INT, &message, &status));
    }
    if (place == IN_SSEND)
        OK(MPI_Ssend(&token, 1, MPI_INT, last, place, comm));
    if (place == IN_SENDRECV)
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, &token, 1, MPI_INT, last, place, comm, &status));
    if (place == IN_WAIT)
        OK(MPI_Wait(&receive, &status));
    if (place == IN_WAITANY)
        OK(MPI_Waitany(1, &receive, &index, &status));
    if (place == IN_WAITSOME)
        OK(MPI_Waitsome(1, &receive, &found, &index, &status));
    while (place == IN_TEST && !found)
        OK(MPI_Test(&receive, &found, &status));
}

static void goes_on(int sort, int lifetime, int count, int place, MPI_Comm comm) {
    Collective it = collective(ring, sort, count, place % size);
    MPI_Request request;
    fill(&it, place);
    begin_one(&it, lifetime, &request);
    if (rank == size - 1)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    wait_in(place, comm);
    complete_one(&request);
    verify(&it, place);
    discard(&it);
}

/* The second of three is completed first, and its neighbours are what they were. */
static void one_of_three(int sort) {
    Collective all[3];
    MPI_Request requests[3];
    int done;
    for (int k = 0; k < 3; k++) {
        all[k] = collective(ring, k == 1 ? sort : BARRIER, 500, 0);
        fill(&all[k], k);
    }
    call(&all[0], PERSISTENT, &requests[0]);
    call(&all[2], PERSISTENT, &requests[2]);
    if (rank != size - 1)
        OK(MPI_Startall(1, requests));
    call(&all[1], NONBLOCKING, &requests[1]);
    if (rank != size - 1)
        OK(MPI_Start(&requests[2]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    verify(&all[1], 1);
    for (int k = 0; k < 3 && rank != size - 1; k += 2) {
        OK(MPI_Test(&requests[k], &done, MPI_STATUS_IGNORE));
        CHECK(!done, "the last rank has not entered this barrier");
    }
    OK(MPI_Barrier(ring));
    for (int k = 0; k < 3; k += 2) {
        if (rank == size - 1)
            OK(MPI_Start(&requests[k]));
        complete_one(&requests[k]);
    }
    for (int k = 0; k < 3; k++)
        discard(&all[k]);
}

int main(int argc, char **argv) {
    MPI_Comm comm;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    ring = ring_of(MPI_COMM_WORLD);
    for (int sort = 0; sort < SORTS; sort++) {
        for (int place = 0; place < PLACES; place++)
            goes_on(sort, (place + sort) % 2 ? NONBLOCKING : PERSISTENT, (place + sort) % 3 ? 5 : LONG, place, comm);
        one_of_three(sort);
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&ring));
    return end();
}
