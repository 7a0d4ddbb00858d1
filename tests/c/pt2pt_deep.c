/* Matching is in order and does not take longer where a hundred thousand receives or messages wait.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication; Probe and Cancel. */
#include "check.h"

enum { MANY = 100000, DONE = MANY };

static MPI_Request requests[MANY];
static int values[MANY];

static void tell(int to) {
    OK(MPI_Send(NULL, 0, MPI_INT, to, DONE, MPI_COMM_WORLD));
}

static void hear(int from) {
    OK(MPI_Recv(NULL, 0, MPI_INT, from, DONE, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Every other receive is from anybody, and messages come in the reverse order. */
static void receives_wait(int left, int right) {
    for (int i = 0; i < MANY; i++)
        OK(MPI_Irecv(&values[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, i, MPI_COMM_WORLD, &requests[i]));
    tell(left);
    hear(right);
    for (int i = MANY - 1; i >= 0; i--)
        OK(MPI_Send(&i, 1, MPI_INT, right, i, MPI_COMM_WORLD));
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        EQUAL(values[i], i);
}

/* Receives are from anybody with a tag, from the sender with any tag, exact, or of anything, by turns. */
static void messages_wait(int left, int right) {
    static char is_here[MANY];
    memset(is_here, 1, MANY);
    int first = 0, last = MANY - 1, flag;
    MPI_Status status;
    for (int i = 0; i < MANY; i++) {
        values[i] = i;
        OK(MPI_Isend(&values[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]));
    }
    tell(right);
    hear(left);
    for (int number = 0; number < MANY; number++) {
        int found, by_tag = number % 3 != 0, wildcard = number % 2;
        while (first < MANY && !is_here[first])
            first++;
        while (last > 0 && !is_here[last])
            last--;
        int tag = by_tag ? last : first;
        OK(MPI_Iprobe(left, DONE + 1 + number, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "nobody sends with this tag");
        OK(MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, &status));
        CHECK(flag, "message %d is here", tag);
        EQUAL(status.MPI_TAG, tag);
        OK(MPI_Recv(&found, 1, MPI_INT, wildcard ? MPI_ANY_SOURCE : left, by_tag ? tag : MPI_ANY_TAG,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(found, tag);
        is_here[tag] = 0;
    }
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
}

/* Equal receives are cancelled from the middle on; the others are matched in order. */
static void some_are_cancelled(int left, int right) {
    MPI_Status status;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Irecv(&values[i], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[i]));
    for (int k = 0; k < MANY; k++) {
        int i = (k + MANY / 2) % MANY, is_cancelled;
        if (i % 10 == 0)
            continue;
        OK(MPI_Cancel(&requests[i]));
        OK(MPI_Wait(&requests[i], &status));
        OK(MPI_Test_cancelled(&status, &is_cancelled));
        CHECK(is_cancelled, "receive %d", i);
    }
    tell(left);
    hear(right);
    for (int i = 0; i < MANY; i += 10)
        OK(MPI_Send(&i, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i += 10)
        EQUAL(values[i], i);
}

/* Synchronous sends that nobody has received are cancelled, the last one first. */
static void sends_are_cancelled(int left, int right) {
    int is_cancelled;
    MPI_Status status;
    for (int i = 0; i < MANY; i++)
        OK(MPI_Issend(&values[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[i]));
    for (int i = MANY - 1; i >= 0; i--)
        OK(MPI_Cancel(&requests[i]));
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Wait(&requests[i], &status));
        OK(MPI_Test_cancelled(&status, &is_cancelled));
        CHECK(is_cancelled, "send %d", i);
    }
    tell(right);
    hear(left);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    receives_wait(left, right);
    messages_wait(left, right);
    some_are_cancelled(left, right);
    sends_are_cancelled(left, right);
    return end();
}
