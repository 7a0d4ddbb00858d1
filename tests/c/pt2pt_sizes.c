/* Messages of every size around the limits of protocols arrive whole, in both directions at once.
   MPI-5.0: Point-to-Point Communication, Blocking Send and Receive Operations. */
#include "check.h"

enum { LONGEST = 9 << 20 };

static unsigned char sent[LONGEST + 1], received[LONGEST + 1];

static void exchange(int bytes) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request receive;
    MPI_Status status;
    for (int i = 0; i < bytes; i += 1 + bytes / 1009)
        sent[i] = (unsigned char)(i * 7 + rank + bytes);
    memset(received, 0, (size_t)bytes);
    received[bytes] = 201;
    OK(MPI_Irecv(received, bytes, MPI_BYTE, left, bytes % 5, MPI_COMM_WORLD, &receive));
    OK(MPI_Send(sent, bytes, MPI_BYTE, right, bytes % 5, MPI_COMM_WORLD));
    OK(MPI_Wait(&receive, &status));
    check_status(&status, left, bytes % 5, MPI_BYTE, bytes);
    for (int i = 0; i < bytes; i += 1 + bytes / 1009)
        EQUAL(received[i], (unsigned char)(i * 7 + left + bytes));
    EQUAL(received[bytes], 201);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int bytes = 0; bytes < 300; bytes++)
        exchange(bytes);
    for (int bytes = 256; bytes <= 1 << 20; bytes *= 2)
        for (int around = -1; around <= 1; around++)
            exchange(bytes + around);
    exchange(LONGEST);
    return end();
}
