/* Wrong arguments of session functions give their class of error, by the session's error handler or by the one
   that MPI_Session_init is given. The initial error handler returns errors. */
#include "session.h"

static MPI_Session session;

static int called, told;
static MPI_Session named;

static void handle(MPI_Session *handle, int *code, ...) {
    named = *handle;
    told = *code;
    called++;
}

static void of_comm(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

/* The call fails with the class, and the handler has heard of it. */
#define HEARD(class, of, call)                                                                      \
    do {                                                                                            \
        called = 0;                                                                                 \
        GIVES(class, call);                                                                         \
        EQUAL(called, 1);                                                                           \
        EQUAL(told, class);                                                                         \
        CHECK(named == (of), "the wrong session");                                                  \
    } while (0)

static void bad_init(MPI_Errhandler errhandler) {
    MPI_Errhandler wrong;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_DOUBLE"));
    HEARD(MPI_ERR_INFO_VALUE, MPI_SESSION_NULL, MPI_Session_init(info, errhandler, &session));
    OK(MPI_Info_free(&info));
    HEARD(MPI_ERR_ARG, MPI_SESSION_NULL, MPI_Session_init(MPI_INFO_NULL, errhandler, NULL));
    GIVES(MPI_ERR_INFO, MPI_Session_init((MPI_Info)0, MPI_ERRORS_RETURN, &session));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &session));
    OK(MPI_Comm_create_errhandler(of_comm, &wrong));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Session_init(MPI_INFO_NULL, wrong, &session));
    OK(MPI_Errhandler_free(&wrong));
}

static void bad_handle(MPI_Session bad) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char name[100];
    int number = -7;
    GIVES(MPI_ERR_SESSION, MPI_Session_get_info(bad, &info));
    GIVES(MPI_ERR_SESSION, MPI_Session_get_num_psets(bad, MPI_INFO_NULL, &number));
    GIVES(MPI_ERR_SESSION, MPI_Session_get_nth_pset(bad, MPI_INFO_NULL, 0, &number, name));
    GIVES(MPI_ERR_SESSION, MPI_Session_get_pset_info(bad, "mpi://SELF", &info));
    GIVES(MPI_ERR_SESSION, MPI_Group_from_session_pset(bad, "mpi://SELF", &group));
    GIVES(MPI_ERR_SESSION, MPI_Session_finalize(&bad));
    CHECK(group == MPI_GROUP_NULL && info == MPI_INFO_NULL && number == -7, "outputs are left alone");
}

static void bad_arguments(void) {
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Info info = MPI_INFO_NULL, no_info = (MPI_Info)0;
    char name[100];
    int number = -7, length = sizeof name, count;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_info(session, NULL));
    HEARD(MPI_ERR_INFO, session, MPI_Session_get_num_psets(session, no_info, &number));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL));
    HEARD(MPI_ERR_INFO, session, MPI_Session_get_nth_pset(session, no_info, 0, &length, name));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, count, &length, name));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, NULL, name));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &number, name));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_pset_info(session, "mpi://NOBODY", &info));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_pset_info(session, NULL, &info));
    HEARD(MPI_ERR_ARG, session, MPI_Session_get_pset_info(session, "mpi://SELF", NULL));
    group = MPI_GROUP_EMPTY;
    HEARD(MPI_ERR_ARG, session, MPI_Group_from_session_pset(session, "", &group));
    CHECK(group == MPI_GROUP_NULL, "what is not the name of a process set gives the null group");
    HEARD(MPI_ERR_ARG, session, MPI_Group_from_session_pset(session, NULL, &group));
    HEARD(MPI_ERR_ARG, session, MPI_Group_from_session_pset(session, "mpi://SELF", NULL));
    CHECK(group == MPI_GROUP_NULL && info == MPI_INFO_NULL && number == -7 && length == sizeof name,
          "outputs are left alone");
}

int main(void) {
    MPI_Errhandler errhandler;
    MPI_Session closed;
    bad_handle(MPI_SESSION_NULL);
    OK(MPI_Session_create_errhandler(handle, &errhandler));
    bad_init(errhandler);
    session = opened();
    bad_handle(MPI_SESSION_NULL);
    bad_handle((MPI_Session)0);
    bad_handle((MPI_Session)MPI_COMM_WORLD);
    OK(MPI_Session_finalize(&session));
    OK(MPI_Session_init(MPI_INFO_NULL, errhandler, &session));
    /* The session keeps it. */
    OK(MPI_Errhandler_free(&errhandler));
    bad_arguments();
    GIVES(MPI_ERR_ARG, MPI_Session_finalize(NULL));
    closed = session;
    OK(MPI_Session_finalize(&session));
    bad_handle(closed);
    return passed();
}
