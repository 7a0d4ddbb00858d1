/* Creating, starting and freeing persistent sends and receives are local, and creating communicates nothing: one rank
   does all of it before the others do anything. All arguments are bound at creation. A request that was never
   started can be freed. MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

typedef int Send_init(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

enum { LONG = 50000, MODES = 3, MOST = 8 };

static int sent[MOST][MODES][LONG], received[MODES + 1][LONG];

/* A synchronous and a long send are under way when nobody has posted a receive. */
static void send_to_all(int first, int count, MPI_Request *requests) {
    static Send_init *const inits[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Send_init};
    for (int r = 0; r < size; r++)
        for (int mode = 0; mode < MODES; mode++) {
            MPI_Datatype type;
            MPI_Comm comm = MPI_COMM_WORLD;
            OK(MPI_Type_contiguous(count, MPI_INT, &type));
            OK(MPI_Type_commit(&type));
            OK(inits[mode](sent[r][mode], 1, type, r == first ? MPI_PROC_NULL : r, mode, comm,
                           &requests[MODES * r + mode]));
            OK(MPI_Type_free(&type));
        }
    for (int round = 0; round < 2; round++)
        OK(MPI_Startall(round * MODES * size, requests)); /* at first none */
}

static void one_comes_first(int first, int count) {
    MPI_Request requests[MODES * MOST], never;
    MPI_Status status;
    int token = 0, done;
    OK(MPI_Recv_init(received[MODES], LONG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &never));
    if (rank == first) {
        for (int r = 0; r < size; r++)
            for (int mode = 0; mode < MODES; mode++)
                for (int i = 0; i < count; i++)
                    sent[r][mode][i] = 100 * r + 10 * mode + i;
        send_to_all(first, count, requests);
        OK(MPI_Test(&requests[MODES * ((first + 1) % size) + 1], &done, MPI_STATUS_IGNORE));
        CHECK(!done || size == 1, "nobody has received what was sent synchronously");
        OK(MPI_Request_free(&never));
        for (int r = 0; r < size; r++)
            if (r != first)
                OK(MPI_Send(&token, 1, MPI_INT, r, 9, MPI_COMM_WORLD));
        OK(MPI_Waitall(MODES * size, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < MODES * size; k++)
            OK(MPI_Request_free(&requests[k]));
        return;
    }
    OK(MPI_Recv(&token, 1, MPI_INT, first, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int mode = MODES - 1; mode >= 0; mode--) {
        OK(MPI_Recv(received[mode], LONG, MPI_INT, MPI_ANY_SOURCE, mode, MPI_COMM_WORLD, &status));
        check_status(&status, first, mode, MPI_INT, count);
        for (int i = 0; i < count; i++)
            EQUAL(received[mode][i], 100 * rank + 10 * mode + i);
    }
    OK(MPI_Request_free(&never));
}

/* A started receive waits for nobody; an inactive one takes nothing. */
static void receives_wait_alone(void) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, values[2] = {-1, -1}, done;
    MPI_Request requests[2];
    for (int k = 0; k < 2; k++)
        OK(MPI_Recv_init(&values[k], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[k]));
    OK(MPI_Start(&requests[1]));
    OK(MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE));
    CHECK(!done, "nothing was sent");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    EQUAL(values[0], -1);
    EQUAL(values[1], left);
    for (int k = 0; k < 2; k++)
        OK(MPI_Request_free(&requests[k]));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int first = 0; first < size; first++) {
        one_comes_first(first, 1);
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* what comes from anybody is of one turn */
        one_comes_first(first, LONG);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    receives_wait_alone();
    return end();
}
