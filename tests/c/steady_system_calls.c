/* Between the two marks, while no more ranks than cores are at work, persistent requests and a short ping-pong
   need no system call. The runner counts them with strace between the writes to descriptor -1. */
#include "check.h"
#include <unistd.h>

enum { ROUNDS = 2000 };

int main(int argc, char **argv) {
    double mine = 1, sum;
    MPI_Request requests[2];
    begin(&argc, &argv);
    OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 2 * ROUNDS; round++) {
        if (round == ROUNDS)
            (void)!write(-1, "begin", 5);
        for (int i = 0; i < 2; i++) {
            OK(MPI_Start(&requests[i]));
            OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        }
        if (rank == 0 && size > 1) {
            OK(MPI_Send(&mine, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD));
            OK(MPI_Recv(&sum, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else if (rank == 1) {
            OK(MPI_Recv(&sum, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(&mine, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD));
        }
    }
    (void)!write(-1, "end", 3);
    for (int i = 0; i < 2; i++)
        OK(MPI_Request_free(&requests[i]));
    return end();
}
