/* Error handlers live as long as the program has references to them or objects use them, and serve one kind of object.
   MPI-5.0: MPI Environmental Management, Error Handling. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void of_comms(MPI_Comm *comm, int *code, ...) {
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void of_files(MPI_File *file, int *code, ...) {
    CHECK(*file == MPI_FILE_NULL, "no other file had an error");
    calls++;
    last_code = *code;
}

static void of_wins(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void of_sessions(MPI_Session *session, int *code, ...) { (void)session, (void)code; }

/* What is derived inherits the handler, and keeps it. */
static void inherited(void) {
    MPI_Errhandler mine, stale, found;
    MPI_Comm parent, split, created;
    MPI_Group group;
    int none;
    OK(MPI_Comm_create_errhandler(of_comms, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_set_errhandler(parent, mine));
    stale = mine;
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL, "a freed handle is null");
    GIVES(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&stale));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, stale));
    OK(MPI_Comm_split(parent, 0, 0, &split));
    OK(MPI_Comm_group(parent, &group));
    OK(MPI_Comm_create(parent, group, &created));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_free(&parent));
    MPI_Comm comms[] = {split, created};
    for (int i = 0; i < 2; i++) {
        calls = 0;
        GIVES(MPI_ERR_RANK, MPI_Send(&none, 1, MPI_INT, size, 0, comms[i]));
        EQUAL(calls, 1);
        CHECK(last_comm == comms[i] && last_code == MPI_ERR_RANK, "what it hears");
    }
    OK(MPI_Comm_get_errhandler(split, &found));
    CHECK(found == stale, "the handler that was set");
    OK(MPI_Comm_free(&split));
    OK(MPI_Comm_free(&created));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, found));
    OK(MPI_Errhandler_free(&found));
    /* What belongs to no object goes to MPI_COMM_SELF. */
    calls = 0;
    GIVES(MPI_ERR_INFO, MPI_Info_free(&(MPI_Info){MPI_INFO_NULL}));
    CHECK(calls == 1 && last_comm == MPI_COMM_SELF, "the handler of errors of no object");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, stale));
}

/* MPI_FILE_NULL stands for the files to come. */
static void files(void) {
    MPI_Errhandler mine, found;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == MPI_ERRORS_RETURN, "errors on files are returned at first");
    OK(MPI_File_create_errhandler(of_files, &mine));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    OK(MPI_Errhandler_free(&mine));
    calls = 0;
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_NO_SUCH_FILE));
    CHECK(calls == 1 && last_code == MPI_ERR_NO_SUCH_FILE, "the handler was called");
    GIVES(MPI_ERR_ARG, MPI_File_call_errhandler(MPI_FILE_NULL, -7));
    GIVES(MPI_ERR_FILE, MPI_File_call_errhandler((MPI_File)MPI_COMM_WORLD, MPI_ERR_ARG));
    EQUAL(calls, 3);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_ARG, MPI_File_get_errhandler(MPI_FILE_NULL, NULL));
}

static void windows(void) {
    MPI_Errhandler found;
    int keyval, flag;
    GIVES(MPI_ERR_WIN, MPI_Win_set_errhandler(MPI_WIN_NULL, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_WIN, MPI_Win_get_errhandler(MPI_WIN_NULL, &found));
    GIVES(MPI_ERR_WIN, MPI_Win_call_errhandler(MPI_WIN_NULL, MPI_ERR_ARG));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL));
    GIVES(MPI_ERR_WIN, MPI_Win_set_attr(MPI_WIN_NULL, keyval, &flag));
    GIVES(MPI_ERR_WIN, MPI_Win_get_attr(MPI_WIN_NULL, keyval, &found, &flag));
    GIVES(MPI_ERR_WIN, MPI_Win_delete_attr(MPI_WIN_NULL, keyval));
    OK(MPI_Win_free_keyval(&keyval));
    EQUAL(keyval, MPI_KEYVAL_INVALID);
}

static void for_one_kind(void) {
    MPI_Errhandler handlers[4], null = MPI_ERRHANDLER_NULL;
    OK(MPI_Comm_create_errhandler(of_comms, &handlers[0]));
    OK(MPI_File_create_errhandler(of_files, &handlers[1]));
    OK(MPI_Session_create_errhandler(of_sessions, &handlers[2]));
    OK(MPI_Win_create_errhandler(of_wins, &handlers[3]));
    for (int i = 1; i < 4; i++)
        GIVES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[i]));
    for (int i = 0; i < 4; i += 2)
        GIVES(MPI_ERR_ERRHANDLER, MPI_File_set_errhandler(MPI_FILE_NULL, handlers[i]));
    for (int i = 0; i < 4; i++)
        OK(MPI_Errhandler_free(&handlers[i]));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL));
    GIVES(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&null));
    GIVES(MPI_ERR_ARG, MPI_Errhandler_free(NULL));
    GIVES(MPI_ERR_ARG, MPI_Comm_create_errhandler(NULL, &null));
    GIVES(MPI_ERR_ARG, MPI_Comm_create_errhandler(of_comms, NULL));
    GIVES(MPI_ERR_COMM, MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_COMM, MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_ARG));
    GIVES(MPI_ERR_COMM, MPI_Abort(MPI_COMM_NULL, 1));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    inherited();
    files();
    windows();
    for_one_kind();
    return end();
}
