/* A child that is forked off and finalizes its parent's session takes nothing from that.
   MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model. */
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"

enum { LONG = 1 << 22 };
static char sent[LONG], got[LONG];

int main(void) {
    MPI_Session session = opened();
    MPI_Group group;
    MPI_Comm comm;
    MPI_Request requests[2];
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "forked", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    int right = (rank + 1) % size, left = (rank + size - 1) % size, status;
    memset(sent, rank + 1, LONG);
    OK(MPI_Irecv(got, LONG, MPI_CHAR, left, 0, comm, &requests[0]));
    OK(MPI_Isend(sent, LONG, MPI_CHAR, right, 0, comm, &requests[1]));
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        OK(MPI_Session_finalize(&session));
        _exit(0);
    }
    waitpid(child, &status, 0);
    EQUAL(status, 0);
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EQUAL(got[LONG - 1], left + 1);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return passed();
}
