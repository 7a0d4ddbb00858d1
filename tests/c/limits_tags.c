/* Tags from 0 to MPI_TAG_UB, each of which is another one.
   MPI-5.0: Point-to-Point Communication, Message Envelope; MPI Environmental Management, Tag Values. */
#include "check.h"

enum { MOST = 80 };

int main(int argc, char **argv) {
    int *bound, found, tags[MOST], count = 0, sent[MOST], received[MOST];
    MPI_Request requests[2 * MOST];
    MPI_Status status;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found));
    CHECK(found && *bound >= 32767, "the largest tag");
    tags[count++] = 0;
    for (int bit = 0; bit < 31 && 1 << bit <= *bound; bit++) {
        tags[count++] = 1 << bit;
        if (bit > 1)
            tags[count++] = (1 << bit) - 1;
    }
    if (tags[count - 2] != *bound && tags[count - 1] != *bound)
        tags[count++] = *bound;
    /* Received in the opposite order of their sends. */
    for (int i = 0; i < count; i++)
        OK(MPI_Irecv(&received[i], 1, MPI_INT, left, tags[i], MPI_COMM_WORLD, &requests[i]));
    for (int i = count - 1; i >= 0; i--) {
        sent[i] = tags[i] - rank;
        OK(MPI_Isend(&sent[i], 1, MPI_INT, right, tags[i], MPI_COMM_WORLD, &requests[count + i]));
    }
    OK(MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < count; i++)
        EQUAL(received[i], tags[i] - left);
    /* Any tag takes them in order, and says which it was. */
    for (int i = 0; i < count; i++)
        OK(MPI_Isend(&tags[i], 1, MPI_INT, right, tags[i], MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < count; i++) {
        OK(MPI_Probe(left, tags[i], MPI_COMM_WORLD, &status));
        OK(MPI_Recv(&received[i], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        check_status(&status, left, tags[i], MPI_INT, 1);
        EQUAL(received[i], tags[i]);
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    GIVES(MPI_ERR_TAG, MPI_Send(sent, 1, MPI_INT, right, -5, MPI_COMM_WORLD));
    return end();
}
