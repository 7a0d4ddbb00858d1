/* A message taken by a matching probe is received by its handle alone, later ones are not affected.
   MPI-5.0: Point-to-Point Communication, Matching Probe. */
#include "check.h"

enum { LONG = 60000 };

static int heard;

static void hear(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    heard++;
}

/* The handler of the communicator that the message came on hears what is wrong with the other arguments, and the
   message is still there. */
static void errors_are_the_communicators(void) {
    int sent = 4, received = 0;
    MPI_Comm own;
    MPI_Errhandler handler;
    MPI_Message message;
    MPI_Request send, receive;
    MPI_Datatype pair;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    OK(MPI_Comm_create_errhandler(hear, &handler));
    OK(MPI_Comm_set_errhandler(own, handler));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Isend(&sent, 1, MPI_INT, 0, 3, own, &send));
    OK(MPI_Mprobe(0, 3, own, &message, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_TYPE, MPI_Mrecv(&received, 1, pair, &message, MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_COUNT, MPI_Imrecv(&received, -1, MPI_INT, &message, &receive));
    GIVES(MPI_ERR_ARG, MPI_Imrecv(&received, 1, MPI_INT, &message, NULL));
    EQUAL(heard, 3);
    OK(MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    EQUAL(received, 4);
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&pair));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_free(&own));
}

int main(int argc, char **argv) {
    static int sent[3][LONG], received[LONG];
    int counts[3] = {2, LONG, 4}, found = 0;
    MPI_Request sends[3], receive;
    MPI_Message first, second = MPI_MESSAGE_NULL;
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < counts[m]; i++)
            sent[m][i] = 1000 * m + rank;
        OK(MPI_Isend(sent[m], counts[m], MPI_INT, right, 5, MPI_COMM_WORLD, &sends[m]));
    }
    OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &first, &status));
    check_status(&status, left, 5, MPI_INT, counts[0]);
    while (!found)
        OK(MPI_Improbe(left, 5, MPI_COMM_WORLD, &found, &second, &status));
    check_status(&status, left, 5, MPI_INT, counts[1]);
    /* What remains for others is the third message. */
    OK(MPI_Recv(received, LONG, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    check_status(&status, left, 5, MPI_INT, counts[2]);
    EQUAL(received[3], 2000 + left);
    OK(MPI_Imrecv(received, LONG, MPI_INT, &second, &receive));
    CHECK(second == MPI_MESSAGE_NULL, "a message that is being received becomes null");
    OK(MPI_Wait(&receive, &status));
    check_status(&status, left, 5, MPI_INT, counts[1]);
    EQUAL(received[LONG - 1], 1000 + left);
    OK(MPI_Mrecv(received, LONG, MPI_INT, &first, &status));
    check_status(&status, left, 5, MPI_INT, counts[0]);
    EQUAL(received[1], left);
    GIVES(MPI_ERR_REQUEST, MPI_Mrecv(received, LONG, MPI_INT, &first, &status));
    OK(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE));
    errors_are_the_communicators();
    return end();
}
