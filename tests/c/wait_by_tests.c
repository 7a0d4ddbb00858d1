/* Loops of calls that do not wait let the ranks go on that they wait for. All ranks share a processor: as long as one
   looks in vain no other goes on, so that the looks are counted and not the time that they take.
   MPI-5.0: Point-to-Point Communication, Communication Completion, Progress. */
#include "check.h"

enum { MESSAGES = 250 };

/* A rank that keeps its processor looks tens of thousands of times before another one has it. */
enum { MOST_LOOKS = 1000 * MESSAGES };

/* Others look in vain for as long as the system holds a rank up: while it starts it, or reads a page of it. */
enum { TRIALS = 5 };

enum { TEST, TESTALL, TESTANY, TESTSOME, IPROBE, IMPROBE, STATUS, STATUS_ANY, WAYS };

static long in_vain;

/* Receives a message by one of the ways to look whether it has come. */
static void receive(int way, int *value, int source) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    int done = 0, index;
    if (way != IPROBE && way != IMPROBE)
        OK(MPI_Irecv(value, 1, MPI_INT, source, way, world, &request));
    for (; !done; in_vain += !done)
        if (way == TEST)
            OK(MPI_Test(&request, &done, &status));
        else if (way == TESTALL)
            OK(MPI_Testall(1, &request, &done, &status));
        else if (way == TESTANY)
            OK(MPI_Testany(1, &request, &index, &done, &status));
        else if (way == TESTSOME)
            OK(MPI_Testsome(1, &request, &done, &index, &status));
        else if (way == IPROBE)
            OK(MPI_Iprobe(source, way, world, &done, &status));
        else if (way == IMPROBE)
            OK(MPI_Improbe(source, way, world, &done, &message, &status));
        else if (way == STATUS)
            OK(MPI_Request_get_status(request, &done, &status));
        else
            OK(MPI_Request_get_status_any(1, &request, &index, &done, &status));
    if (way == IPROBE)
        OK(MPI_Recv(value, 1, MPI_INT, source, way, world, &status));
    if (way == IMPROBE)
        OK(MPI_Mrecv(value, 1, MPI_INT, &message, &status));
    if (way >= STATUS)
        OK(MPI_Wait(&request, &status));
}

/* A token goes around: each rank waits for all others. */
static void around(int way) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, token = -1;
    for (int k = 0; k < MESSAGES; k++) {
        if (k % size == rank)
            OK(MPI_Send(&k, 1, MPI_INT, right, way, MPI_COMM_WORLD));
        if ((k + 1) % size == rank) {
            receive(way, &token, left);
            EQUAL(token, k);
        }
    }
}

int main(int argc, char **argv) {
    long all = 0;
    begin(&argc, &argv);
    for (int way = 0; way < WAYS; way++) {
        for (int trial = 0; trial == 0 || (all >= MOST_LOOKS && trial < TRIALS); trial++) {
            in_vain = 0;
            around(way);
            OK(MPI_Allreduce(&in_vain, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        }
        CHECK(all < MOST_LOOKS, "by way %d: %ld for %d messages", way, all, MESSAGES);
    }
    return end();
}
