/* Functions that are not built: they do nothing, and say so by code and string. Whatever the program does about the
   code, the test looks for one line of each on standard error. */
#include "check.h"

static void check_code(int code) {
    EQUAL(class_of(code), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(strstr(text_of(code), "not built in this version of oxmpi"), "%s", text_of(code));
    CHECK(!strstr(text_of(code), "stream"), "%s", text_of(code));
}

int main(int argc, char **argv) {
    MPI_Win win = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    int provided = -1;
    begin(&argc, &argv);
    if (argc > 1)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    /* Errors about files go to the handler of the null file. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 2; i++) {
        check_code(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        check_code(MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        check_code(MPI_File_close(&file));
        EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_ERR_UNSUPPORTED_OPERATION);
    }
    CHECK(win == MPI_WIN_NULL && file == MPI_FILE_NULL && provided == -1, "nothing is set");
    return end();
}
