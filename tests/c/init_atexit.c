/* MPI can be used, and finalized, by a function that runs when the program has left main: errors are returned,
   and attributes are deleted. MPI-5.0: Process Initialization, Creation, and Management, Finalizing. */
#include "check.h"

static int deleted;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval, (void)value, (void)extra;
    CHECK(comm == MPI_COMM_SELF, "whose attribute it is");
    deleted++;
    return MPI_SUCCESS;
}

static void use(void) {
    int flag;
    GIVES(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &flag));
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag, "the main thread");
    CHECK(strlen(text_of(MPI_ERR_COMM)) > 0, "a text");
}

static void leave(void) {
    use();
    end();
    CHECK(deleted == 1, "the attribute is deleted");
}

int main(int argc, char **argv) {
    int keyval;
    begin(&argc, &argv);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL));
    OK(MPI_Comm_free_keyval(&keyval));
    use();
    return atexit(leave);
}
