/* A session's communicator works before MPI_Init, beside the world and after MPI_Finalize, also for what was begun
   before. MPI-5.0: Process Initialization, The Sessions Model. */
#include "session.h"

#define LONG 1000000

static MPI_Session session;
static int sent[LONG], received[LONG];

static void check_sum(MPI_Comm comm) {
    int sum;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
}

int main(int argc, char **argv) {
    MPI_Request requests[4];
    MPI_Group world;
    MPI_Comm comm;
    int sum, next, previous;
    session = opened();
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Comm_create_from_group(world, "beyond", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    check_sum(comm);
    begin(&argc, &argv);
    check_sum(MPI_COMM_WORLD);
    check_sum(comm);
    next = (rank + 1) % size, previous = (rank + size - 1) % size;
    sent[LONG - 1] = rank;
    OK(MPI_Irecv(received, LONG, MPI_INT, previous, 1, comm, &requests[0]));
    OK(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Start(&requests[1]));
    /* Half of the ranks send only when the world has ended. */
    if (rank % 2 == 0)
        OK(MPI_Isend(sent, LONG, MPI_INT, next, 1, comm, &requests[2]));
    OK(MPI_Finalize());
    if (rank % 2 == 1)
        OK(MPI_Isend(sent, LONG, MPI_INT, next, 1, comm, &requests[2]));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    EQUAL(received[LONG - 1], previous);
    EQUAL(sum, size - 1);
    OK(MPI_Request_free(&requests[1]));
    check_sum(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return passed();
}
