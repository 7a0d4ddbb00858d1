/* Buffers of sessions serve the communicators that come from them, unless these have their own, and end with the
   session. MPI-5.0: Point-to-Point Communication, Buffer Allocation and Usage. */
#include "session.h"

enum { BYTES = 100000, LONG = 300000 };
static char room[LONG + MPI_BSEND_OVERHEAD], message[LONG], received[LONG];
/* For one message of BYTES. */
static char little[BYTES + MPI_BSEND_OVERHEAD], of_child[LONG + MPI_BSEND_OVERHEAD];

static MPI_Comm comm_of(MPI_Session session, const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static int bsend(int bytes, MPI_Comm comm) {
    return MPI_Bsend(message, bytes, MPI_BYTE, 0, 1, comm);
}

static void receive(int bytes, MPI_Comm comm) {
    MPI_Status status;
    OK(MPI_Recv(received, LONG, MPI_BYTE, 0, 1, comm, &status));
    check_status(&status, 0, 1, MPI_BYTE, bytes);
}

static void check_detached(void *buffer, MPI_Count bytes) {
    CHECK(buffer == little, "the buffer that was attached");
    EQUAL(bytes, sizeof little);
}

static void the_nearest_buffer_is_taken(void) {
    MPI_Session mine = opened(), other = opened();
    MPI_Comm comm = comm_of(mine, "mpi://SELF", "mine"), beside = comm_of(other, "mpi://SELF", "other"), child;
    MPI_Request request;
    void *buffer;
    int bytes, flag;
    OK(MPI_Comm_dup(comm, &child));
    OK(MPI_Session_attach_buffer(mine, little, sizeof little));
    GIVES(MPI_ERR_BUFFER, MPI_Session_attach_buffer(mine, room, sizeof room));
    GIVES(MPI_ERR_BUFFER, bsend(BYTES, beside));
    OK(bsend(BYTES, comm));
    GIVES(MPI_ERR_BUFFER, bsend(BYTES, child));
    OK(MPI_Session_iflush_buffer(mine, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "the message is in the buffer still");
    OK(MPI_Buffer_attach(room, sizeof room));
    GIVES(MPI_ERR_BUFFER, bsend(BYTES, child));
    OK(bsend(BYTES + 1000, beside));
    OK(MPI_Comm_attach_buffer(child, of_child, sizeof of_child));
    OK(bsend(LONG, child));
    receive(BYTES, comm);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Session_flush_buffer(mine));
    GIVES(MPI_ERR_BUFFER, bsend(BYTES + 1000, comm));
    receive(BYTES + 1000, beside);
    receive(LONG, child);
    OK(MPI_Session_detach_buffer(mine, &buffer, &bytes));
    check_detached(buffer, bytes);
    GIVES(MPI_ERR_BUFFER, MPI_Session_detach_buffer(mine, &buffer, &bytes));
    OK(bsend(BYTES + 1000, comm));
    receive(BYTES + 1000, comm);
    OK(MPI_Session_attach_buffer_c(mine, MPI_BUFFER_AUTOMATIC, 0));
    MPI_Count large;
    OK(MPI_Session_detach_buffer_c(mine, &buffer, &large));
    CHECK(buffer == MPI_BUFFER_AUTOMATIC, "what was attached");
    EQUAL(large, 0);
    OK(MPI_Buffer_detach(&buffer, &bytes));
    OK(MPI_Comm_free(&child));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&beside));
    OK(MPI_Session_finalize(&other));
    OK(MPI_Session_finalize(&mine));
}

/* What is in the buffer is sent before the session ends; its communicators end with it. */
static void a_session_ends_when_its_buffer_is_empty(void) {
    MPI_Session session = opened();
    MPI_Comm comm = comm_of(session, "mpi://WORLD", "pairs");
    OK(MPI_Session_attach_buffer(session, room, sizeof room));
    if (rank % 2 == 0 && rank + 1 < size) {
        memset(message, rank + 1, LONG);
        OK(MPI_Bsend(message, LONG, MPI_BYTE, rank + 1, 1, comm));
    } else if (rank % 2) {
        OK(MPI_Recv(received, LONG, MPI_BYTE, rank - 1, 1, comm, MPI_STATUS_IGNORE));
        EQUAL(received[0], rank);
        EQUAL(received[LONG - 1], rank);
    }
    OK(MPI_Session_finalize(&session));
    /* The same memory for the next one. */
    session = opened();
    OK(MPI_Session_attach_buffer(session, room, sizeof room));
    OK(MPI_Session_finalize(&session));
}

int main(void) {
    for (int round = 0; round < 3; round++) {
        the_nearest_buffer_is_taken();
        a_session_ends_when_its_buffer_is_empty();
    }
    return passed();
}
