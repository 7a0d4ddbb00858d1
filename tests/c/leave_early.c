/* Ranks that leave as soon as they have told all are not missed by those who come later: what was sent and freed, what
   is buffered, and their parts of collectives. MPI-5.0: Process Initialization, Finalizing MPI. */
#include "check.h"
#include <unistd.h>

enum { LONG = 1 << 20, MANY = 300, ROUNDS = 3 };

static char message[LONG], buffer[LONG + MPI_BSEND_OVERHEAD];

/* The first rank is early, the others late: they sleep before each call, as one that waits does. */
static void dawdle(void) {
    if (rank != 0)
        usleep(1000 * rank);
}

int main(int argc, char **argv) {
    MPI_Request request;
    MPI_Comm comm;
    MPI_Status status;
    int number, peer, found;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (number = 0; number < ROUNDS; number++) {
        dawdle();
        OK(MPI_Bcast(message, LONG, MPI_CHAR, 0, comm));
        dawdle();
        OK(MPI_Bcast(&number, 1, MPI_INT, 0, comm));
    }
    OK(MPI_Ibarrier(comm, &request));
    dawdle();
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank == 0) {
        for (peer = 1; peer < size; peer++) {
            for (number = 0; number < MANY; number++) {
                OK(MPI_Isend(&peer, 1, MPI_INT, peer, 1, comm, &request));
                OK(MPI_Request_free(&request));
            }
            OK(MPI_Isend(message, LONG, MPI_CHAR, peer, 2, comm, &request));
            OK(MPI_Request_free(&request));
        }
        if (size > 1)
            OK(MPI_Bsend(message, LONG, MPI_CHAR, size - 1, 3, MPI_COMM_WORLD));
        printf("passed on %d\n", size);
        OK(MPI_Finalize());
        return 0;
    }
    if (rank == size - 1) {
        dawdle();
        OK(MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status));
        OK(MPI_Recv(message, LONG, MPI_CHAR, 0, 3, MPI_COMM_WORLD, &status));
    }
    dawdle();
    OK(MPI_Recv(message, LONG, MPI_CHAR, MPI_ANY_SOURCE, 2, comm, &status));
    check_status(&status, 0, 2, MPI_CHAR, LONG);
    for (number = 0; number < MANY; number++) {
        OK(MPI_Irecv(&found, 1, MPI_INT, 0, 1, comm, &request));
        OK(MPI_Wait(&request, &status));
    }
    /* The others are slower still. */
    peer = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    OK(MPI_Recv(&found, 1, MPI_INT, peer, 4, comm, &status));
    dawdle();
    OK(MPI_Send(&found, 1, MPI_INT, rank - 1 > 0 ? rank - 1 : MPI_PROC_NULL, 4, comm));
    return MPI_Finalize();
}
