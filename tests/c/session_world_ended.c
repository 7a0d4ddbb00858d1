/* MPI_Finalize ends the world's communicators, but not sessions. The initial error handler returns errors. */
#include "session.h"

static MPI_Session session;

static int deleted;

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state) {
    int flag;
    (void)comm, (void)keyval, (void)value, (void)state;
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "MPI_COMM_SELF is freed first");
    deleted++;
    return MPI_SUCCESS;
}

static void outside_world(MPI_Comm made) {
    void *value;
    int found;
    GIVES(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_WORLD, &found));
    GIVES(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_SELF));
    GIVES(MPI_ERR_COMM, MPI_Comm_get_attr(MPI_COMM_SELF, MPI_TAG_UB, &value, &found));
    GIVES(MPI_ERR_COMM, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_COMM, MPI_Comm_rank(made, &found));
    GIVES(MPI_ERR_OTHER, MPI_Finalize());
}

int main(int argc, char **argv) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group of_world, of_session;
    int keyval, found;
    session = opened();
    outside_world(made);
    begin(&argc, &argv);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &deleted));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &made));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &of_world));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &of_session));
    OK(MPI_Group_compare(of_world, of_session, &found));
    EQUAL(found, MPI_IDENT);
    OK(MPI_Finalize());
    EQUAL(deleted, 1);
    outside_world(made);
    GIVES(MPI_ERR_GROUP, MPI_Group_size(of_world, &found));
    OK(MPI_Group_size(of_session, &found));
    EQUAL(found, size);
    GIVES(MPI_ERR_OTHER, MPI_Init(&argc, &argv));
    OK(MPI_Session_finalize(&session));
    GIVES(MPI_ERR_OTHER, MPI_Group_size(of_session, &found));
    /* And again. */
    session = opened();
    OK(MPI_Session_finalize(&session));
    return passed();
}
