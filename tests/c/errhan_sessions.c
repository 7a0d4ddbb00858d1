/* Error handlers of sessions, without the world model.
   MPI-5.0: MPI Environmental Management, Error Handling, Error Handlers for Sessions. */
#include "check.h"

static int calls, last_code;
static MPI_Session last_session;

static void note(MPI_Session *session, int *code, ...) {
    calls++;
    last_session = *session;
    last_code = *code;
}

static void of_comms(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

int main(int argc, char **argv) {
    MPI_Session session;
    MPI_Errhandler mine, wrong, found;
    MPI_Group group, part;
    int psets, class, code;
    OK(MPI_Session_create_errhandler(note, &mine));
    OK(MPI_Session_init(MPI_INFO_NULL, mine, &session));
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(calls == 1 && last_session == session && last_code == MPI_ERR_OTHER, "what it hears");
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Session_call_errhandler(session, code));
    CHECK(calls == 2 && last_code == code, "a code of the program's");
    OK(MPI_Errhandler_free(&mine));

    GIVES(MPI_ERR_ARG, MPI_Group_from_session_pset(session, "nobody://THERE", &group));
    CHECK(calls == 3 && last_code == MPI_ERR_ARG, "errors of the session");
    GIVES(MPI_ERR_ARG, MPI_Session_call_errhandler(session, -1));
    GIVES(MPI_ERR_ARG, MPI_Session_get_errhandler(session, NULL));
    OK(MPI_Comm_create_errhandler(of_comms, &wrong));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(session, wrong));
    OK(MPI_Errhandler_free(&wrong));
    EQUAL(calls, 6);

    OK(MPI_Session_get_errhandler(session, &found));
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_ARG, MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL));
    EQUAL(calls, 6);
    OK(MPI_Session_set_errhandler(session, found));
    OK(MPI_Errhandler_free(&found));
    GIVES(MPI_ERR_INFO, MPI_Session_get_num_psets(session, (MPI_Info)session, &psets));
    EQUAL(calls, 7);

    /* A group has that of its session, and what is derived of it, too. */
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_incl(group, 1, (int[]){0}, &part));
    for (int i = 0; i < 2; i++) {
        MPI_Group of = i == 0 ? group : part, made;
        GIVES(MPI_ERR_RANK, MPI_Group_incl(of, 1, (int[]){99999}, &made));
        GIVES(MPI_ERR_RANK, MPI_Group_range_excl(of, 1, (int[][3]){{99999, 99999, 1}}, &made));
        GIVES(MPI_ERR_RANK, MPI_Group_translate_ranks(of, 1, (int[]){99999}, part, &code));
        GIVES(MPI_ERR_ARG, MPI_Group_size(of, NULL));
        GIVES(MPI_ERR_ARG, MPI_Group_union(MPI_GROUP_EMPTY, of, NULL));
        EQUAL(calls, 7 + 5 * (i + 1));
        CHECK(last_session == session, "whose they are");
    }
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    begin(&argc, &argv);
    GIVES(MPI_ERR_SESSION, MPI_Session_set_errhandler(MPI_SESSION_NULL, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_SESSION, MPI_Session_get_errhandler(session, &found));
    GIVES(MPI_ERR_SESSION, MPI_Session_call_errhandler(session, MPI_ERR_ARG));
    return end();
}
