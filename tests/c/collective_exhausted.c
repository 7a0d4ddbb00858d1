/* When shared memory is used up, what cannot be made is an error on all ranks, and all else goes on.
   MPI-5.0: Error Handling; Persistent Collective Operations; Communicator Constructors. */
#include "exhaust.h"
#include <unistd.h>

static MPI_Comm twins[MOST];

static void works(MPI_Comm comm) {
    int mine = rank, sum = -1;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
}

static void run(MPI_Request *request) {
    OK(MPI_Start(request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

/* As many communicators. */
static int duplicate(void) {
    for (int count = 0;; count++) {
        CHECK(count < MOST, "there is memory for %d communicators", count);
        int code = MPI_Comm_dup(MPI_COMM_WORLD, &twins[count]);
        if (code != MPI_SUCCESS) {
            EQUAL(class_of(code), MPI_ERR_NO_MEM);
            return count;
        }
    }
}

static void discard(int operations, int communicators) {
    for (int i = 0; i < operations; i++)
        OK(MPI_Request_free(&requests[i]));
    for (int i = 0; i < communicators; i++)
        OK(MPI_Comm_free(&twins[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have left them, so that all of it can be used again */
}

/* What was sent from a buffer is not lost, though there is no memory for it as long as others wait, look and doubt; and
   it keeps nobody from giving memory back. */
static void send_off(void) {
    for (int to = 0; to < size; to++)
        if (to != rank)
            OK(MPI_Bsend(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
    if (rank == 0)
        usleep(300000);
    works(MPI_COMM_WORLD);
}

static void take_in(void) {
    for (int from = 0; from < size; from++) {
        int theirs = from;
        if (from != rank) {
            theirs = -1;
            OK(MPI_Recv(&theirs, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        EQUAL(theirs, from);
    }
}

/* What may be the first messages need memory that something else has had. */
static void greet(void) {
    for (int step = 1; step < size; step++) {
        int to = (rank + step) % size, from = (rank + size - step) % size, theirs = -1;
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &theirs, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(theirs, from);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int first[2] = {0, 0};
    static char buffer[1 << 16];
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (int cycle = 0; cycle < 3; cycle++) {
        int operations = prepare();
        works(MPI_COMM_WORLD);
        send_off();
        for (int i = 0; i < operations; i += 1 + operations / 50)
            run(&requests[i]);
        discard(operations, 0);
        take_in();
        greet();
        int communicators = duplicate();
        for (int i = 0; i < communicators; i += 1 + communicators / 50)
            works(twins[i]);
        works(MPI_COMM_WORLD);
        discard(0, communicators);
        CHECK(operations > 100 && communicators > 10, "%d and %d", operations, communicators);
        if (cycle == 0) {
            first[0] = operations;
            first[1] = communicators;
        }
        CHECK(10 * operations > 9 * first[0], "%d operations, then %d", first[0], operations);
        CHECK(10 * communicators > 9 * first[1], "%d communicators, then %d", first[1], communicators);
    }
    return end();
}
