/* Ranks leave when they are through, whether their peers are or not: what they have sent arrives, and the farewells
   that they are sent are nobody's concern. MPI-5.0: Process Initialization, Session Creation and Destruction. */
#include "session.h"
#include <unistd.h>

#define COPIES 200
#define MESSAGES 3000

static MPI_Comm copies[COPIES];

int main(void) {
    MPI_Session session = opened();
    MPI_Group world;
    MPI_Comm comm;
    int value;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Comm_create_from_group(world, "early", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    for (int i = 0; i < COPIES; i++)
        OK(MPI_Comm_dup(comm, &copies[i]));
    if (rank != 0) {
        for (value = 0; value < MESSAGES; value++)
            OK(MPI_Send(&value, 1, MPI_INT, 0, 0, comm));
        OK(MPI_Session_finalize(&session));
        return 0;
    }
    for (int i = 0; i < MESSAGES; i++) {
        for (int source = 1; source < size; source++) {
            OK(MPI_Recv(&value, 1, MPI_INT, source, 0, comm, MPI_STATUS_IGNORE));
            EQUAL(value, i);
        }
    }
    /* By now most are gone. */
    usleep(20000);
    for (int i = 0; i < COPIES; i++)
        OK(MPI_Comm_free(&copies[i]));
    OK(MPI_Session_finalize(&session));
    return passed();
}
