/* Sends and receives with one envelope belong together in the order of the calls that made them, in whatever order they
   are started; with another tag, source or communicator they do not meet, nor with any other message; requests that are
   freed without having been started count, too. MPI-5.0: Partitioned Point-to-Point Communication, Semantics of
   Communications in Partitioned Mode. */
#include "check.h"

enum { PAIRS = 5, ROUNDS = 3 };

static void in_order(MPI_Comm comm, int right, int left) {
    int out[PAIRS][4], in[PAIRS][4];
    MPI_Request sends[PAIRS], receives[PAIRS], unused;
    for (int i = 0; i < PAIRS; i++) {
        OK(MPI_Psend_init(out[i], 2, 2, MPI_INT, right, 3, comm, MPI_INFO_NULL, &unused));
        OK(MPI_Request_free(&unused));
        OK(MPI_Psend_init(out[i], 2, 2, MPI_INT, right, 3, comm, MPI_INFO_NULL, &sends[i]));
        OK(MPI_Precv_init(in[i], 1, 4, MPI_INT, left, 3, comm, MPI_INFO_NULL, &unused));
        OK(MPI_Request_free(&unused));
        OK(MPI_Precv_init(in[i], 1, 4, MPI_INT, left, 3, comm, MPI_INFO_NULL, &receives[i]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < PAIRS; k++) {
            int i = (3 * k + round) % PAIRS, j = PAIRS - 1 - k;
            for (int n = 0; n < 4; n++)
                out[i][n] = 1000 * rank + 100 * round + 10 * i + n;
            OK(MPI_Start(&sends[i]));
            OK(MPI_Pready_range(0, 1, sends[i]));
            OK(MPI_Start(&receives[j]));
        }
        OK(MPI_Waitall(PAIRS, receives, MPI_STATUSES_IGNORE));
        OK(MPI_Waitall(PAIRS, sends, MPI_STATUSES_IGNORE));
        for (int i = 0; i < PAIRS; i++)
            for (int n = 0; n < 4; n++)
                EQUAL(in[i][n], 1000 * left + 100 * round + 10 * i + n);
    }
    for (int i = 0; i < PAIRS; i++) {
        OK(MPI_Request_free(&sends[i]));
        OK(MPI_Request_free(&receives[i]));
    }
}

/* Messages of every other kind, with the same envelope, at the same time. */
static void apart(MPI_Comm comm, int right, int left) {
    int out = 10 + rank, in = -1, plain = 20 + rank, received = -1, kept = 30 + rank, again = -1, flag;
    MPI_Request requests[4];
    MPI_Status status;
    OK(MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]));
    OK(MPI_Psend_init(&out, 1, 1, MPI_INT, right, 7, comm, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Precv_init(&in, 1, 1, MPI_INT, left, 7, comm, MPI_INFO_NULL, &requests[2]));
    OK(MPI_Recv_init(&again, 1, MPI_INT, left, 7, comm, &requests[3]));
    OK(MPI_Startall(2, &requests[1]));
    OK(MPI_Pready(0, requests[1]));
    OK(MPI_Wait(&requests[2], &status));
    check_status(&status, left, 7, MPI_INT, 1);
    EQUAL(in, 10 + left);
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Test(&requests[0], &flag, &status));
    CHECK(!flag, "nothing was sent to that receive");
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status));
    CHECK(!flag, "no message is there");
    OK(MPI_Barrier(comm));
    OK(MPI_Send(&plain, 1, MPI_INT, right, 7, comm));
    OK(MPI_Wait(&requests[0], &status));
    check_status(&status, left, 7, MPI_INT, 1);
    EQUAL(received, 20 + left);
    OK(MPI_Start(&requests[3]));
    OK(MPI_Send(&kept, 1, MPI_INT, right, 7, comm));
    OK(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
    EQUAL(again, 30 + left);
    for (int i = 1; i < 4; i++)
        OK(MPI_Request_free(&requests[i]));
}

/* Of several tags and communicators, made in different orders on both sides. */
static void by_envelope(MPI_Comm comm, MPI_Comm other, int right, int left) {
    int out[4], in[4] = {-1, -1, -1, -1};
    MPI_Request sends[4], receives[4];
    for (int i = 0; i < 4; i++) {
        out[i] = 100 * rank + i;
        OK(MPI_Psend_init(&out[i], 1, 1, MPI_INT, right, i % 2, i / 2 ? comm : other, MPI_INFO_NULL, &sends[i]));
    }
    for (int i = 3; i >= 0; i--)
        OK(MPI_Precv_init(&in[i], 1, 1, MPI_INT, left, i % 2, i / 2 ? comm : other, MPI_INFO_NULL, &receives[i]));
    OK(MPI_Startall(4, receives));
    OK(MPI_Startall(4, sends));
    for (int i = 0; i < 4; i++)
        OK(MPI_Pready(0, sends[i]));
    OK(MPI_Waitall(4, sends, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(4, receives, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; i++) {
        EQUAL(in[i], 100 * left + i);
        OK(MPI_Request_free(&sends[i]));
        OK(MPI_Request_free(&receives[i]));
    }
}

int main(int argc, char **argv) {
    MPI_Comm dup;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    in_order(MPI_COMM_WORLD, right, left);
    apart(dup, right, left);
    by_envelope(MPI_COMM_WORLD, dup, right, left);
    OK(MPI_Comm_free(&dup));
    return end();
}
