/* Collectives on communicators that share ranks do not disturb each other, nor point-to-point messages.
   MPI-5.0: Collective Communication, Communicator Argument; Nonblocking Collective Operations. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Comm parity, pairs, copy;
    MPI_Request requests[5];
    int parity_size, pairs_size, sums[4], from_left;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &pairs));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_size(parity, &parity_size));
    OK(MPI_Comm_size(pairs, &pairs_size));
    for (int round = 0; round < 200; round++) {
        int one = 1 + round;
        MPI_Comm comms[4] = {MPI_COMM_WORLD, parity, pairs, copy};
        int sizes[4] = {size, parity_size, pairs_size, size};
        OK(MPI_Irecv(&from_left, 1, MPI_INT, left, round, MPI_COMM_WORLD, &requests[4]));
        for (int k = 0; k < 4; k++) {
            int i = (k + rank) % 4;
            OK(MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comms[i], &requests[i]));
        }
        OK(MPI_Send(&round, 1, MPI_INT, right, round, MPI_COMM_WORLD));
        OK(MPI_Waitall(5, requests, MPI_STATUSES_IGNORE));
        EQUAL(from_left, round);
        for (int i = 0; i < 4; i++)
            EQUAL(sums[i], sizes[i] * one);
    }
    OK(MPI_Comm_free(&parity));
    OK(MPI_Comm_free(&pairs));
    OK(MPI_Comm_free(&copy));
    return end();
}
