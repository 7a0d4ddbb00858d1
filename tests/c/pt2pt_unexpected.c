/* Many messages that nobody has asked for yet wait for their receives, in order, without hindering others.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "check.h"

enum { MESSAGES = 3000 };

int main(int argc, char **argv) {
    static MPI_Request sends[MESSAGES];
    static int values[MESSAGES][16];
    int received[16];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int m = 0; m < MESSAGES; m++) {
        values[m][0] = values[m][15] = m;
        OK(MPI_Isend(values[m], 16, MPI_INT, right, m % 3, MPI_COMM_WORLD, &sends[m]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int tag = 2; tag >= 0; tag--)
        for (int m = tag; m < MESSAGES; m += 3) {
            OK(MPI_Recv(received, 16, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EQUAL(received[0], m);
            EQUAL(received[15], m);
        }
    OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    return end();
}
