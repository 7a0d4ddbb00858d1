/* What is derived from a session stays until the program frees it, but can be used only while MPI is. The initial error
   handler returns errors. MPI-5.0: Process Initialization, Session Creation and Destruction. */
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
    OK(MPI_Comm_size(of_first, &found));
    EQUAL(found, size);
    OK(MPI_Barrier(copy));
    OK(MPI_Group_size(group, &found));
    EQUAL(found, size);
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&of_first));
    OK(MPI_Barrier(of_second));
    OK(MPI_Comm_size(of_second, &found));
    EQUAL(found, size);
    OK(MPI_Comm_free(&of_second));
    OK(MPI_Session_finalize(&second));
    GIVES(MPI_ERR_OTHER, MPI_Comm_size(copy, &found));
    GIVES(MPI_ERR_OTHER, MPI_Group_size(again, &found));
    first = opened();
    OK(MPI_Barrier(copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Group_free(&again));
    OK(MPI_Session_finalize(&first));
    return passed();
}
