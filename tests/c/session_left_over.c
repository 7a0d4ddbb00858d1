/* What the program has not freed ends with its session, and nothing else does. The initial error handler returns
   errors. MPI-5.0: Process Initialization, Session Creation and Destruction. */
#include "session.h"

static MPI_Comm world_of(MPI_Session session) {
    MPI_Group world;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Comm_create_from_group(world, "left", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&world));
    return comm;
}

int main(void) {
    MPI_Session first = opened(), second = opened();
    MPI_Comm of_first = world_of(first), of_second = world_of(second), copy;
    MPI_Group group, again;
    int found;
    OK(MPI_Comm_dup(of_first, &copy));
    OK(MPI_Comm_group(copy, &group));
    OK(MPI_Group_union(group, group, &again));
    OK(MPI_Session_finalize(&first));
    GIVES(MPI_ERR_COMM, MPI_Comm_size(of_first, &found));
    GIVES(MPI_ERR_COMM, MPI_Barrier(copy));
    GIVES(MPI_ERR_GROUP, MPI_Group_size(group, &found));
    GIVES(MPI_ERR_GROUP, MPI_Group_size(again, &found));
    OK(MPI_Barrier(of_second));
    OK(MPI_Comm_size(of_second, &found));
    EQUAL(found, size);
    OK(MPI_Session_finalize(&second));
    return passed();
}
