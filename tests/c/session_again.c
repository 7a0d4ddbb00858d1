/* Sessions come and go in one process, with nothing open in between; communicators are freed, or left to end with
   their session. */
#include "session.h"

#define ROUNDS 40

int main(void) {
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Session session = opened();
        MPI_Group world;
        MPI_Comm comm, copy;
        int sum;
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
        OK(MPI_Comm_create_from_group(world, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        OK(MPI_Comm_dup(comm, &copy));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy));
        EQUAL(sum, size * (size - 1) / 2);
        if (round % 2 == 0) {
            OK(MPI_Group_free(&world));
            OK(MPI_Comm_free(&copy));
            OK(MPI_Comm_free(&comm));
        }
        OK(MPI_Session_finalize(&session));
    }
    return passed();
}
