/* A child that is forked off and finalizes its parent's session takes nothing from that.
   MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model. */
#include "forked.h"
#include "session.h"

static MPI_Session session;

static int finalize_in_child(void) {
    OK(MPI_Session_finalize(&session));
    return 0;
}

int main(void) {
    MPI_Group group;
    MPI_Comm comm;
    session = opened();
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "forked", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    exchange_beside_child(comm, finalize_in_child);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return passed();
}
