/* Messages do not overtake, whatever their sizes and modes, whether receives are posted before or after.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "check.h"

enum { MESSAGES = 60, LONGEST = 300000 };

static int bytes_of(int message) {
    static const int bytes[] = {0, 8, 100000, 16, 1, 5000, LONGEST, 64, 70000, 2};
    return bytes[message % 10];
}

static MPI_Request start_send(char *data, int message, int dest) {
    MPI_Request request;
    memset(data, message, LONGEST);
    if (message % 3 == 2)
        OK(MPI_Issend(data, bytes_of(message), MPI_BYTE, dest, message % 2, MPI_COMM_WORLD, &request));
    else
        OK(MPI_Isend(data, bytes_of(message), MPI_BYTE, dest, message % 2, MPI_COMM_WORLD, &request));
    return request;
}

static void check_message(const MPI_Status *status, const char *data, int message, int source) {
    check_status(status, source, message % 2, MPI_BYTE, bytes_of(message));
    for (int i = 0; i < bytes_of(message); i += 97)
        EQUAL(data[i], message);
}

int main(int argc, char **argv) {
    static char sent[MESSAGES][LONGEST], received[MESSAGES][LONGEST];
    MPI_Request sends[MESSAGES], receives[MESSAGES];
    MPI_Status statuses[MESSAGES];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int round = 0; round < 2; round++) {
        int posted = round * MESSAGES / 2;
        for (int m = 0; m < posted; m++)
            OK(MPI_Irecv(received[m], LONGEST, MPI_BYTE, m % 2 ? left : MPI_ANY_SOURCE, MPI_ANY_TAG,
                MPI_COMM_WORLD, &receives[m]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int m = 0; m < MESSAGES; m++)
            sends[m] = start_send(sent[m], m, right);
        for (int m = posted; m < MESSAGES; m++)
            OK(MPI_Irecv(received[m], LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                &receives[m]));
        OK(MPI_Waitall(MESSAGES, receives, statuses));
        for (int m = 0; m < MESSAGES; m++)
            check_message(&statuses[m], received[m], m, left);
        OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    }
    return end();
}
