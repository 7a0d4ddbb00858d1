/* MPI can be used, and finalized, by a function that runs when the program has left main: errors are returned,
   messages and partitions go, types are compared if that is wanted, and attributes are deleted.
   MPI-5.0: Process Initialization, Creation, and Management, Finalizing. */
#include "check.h"

static int deleted;

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval, (void)value, (void)extra;
    CHECK(comm == MPI_COMM_SELF, "whose attribute it is");
    deleted++;
    return MPI_SUCCESS;
}

static MPI_Request partitioned[2];
static int from[2] = {6, 7}, into[2];

static void use(void) {
    int flag, sent = 1, received = 0;
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, rank, 0, &received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(received, 1);
    OK(MPI_Allreduce(&sent, &received, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    GIVES(MPI_ERR_COMM, MPI_Comm_rank(MPI_COMM_NULL, &flag));
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag, "the main thread");
    CHECK(strlen(text_of(MPI_ERR_COMM)) > 0, "a text");
}

static void leave(void) {
    use();
    OK(MPI_Pready(1, partitioned[0]));
    OK(MPI_Waitall(2, partitioned, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; i++)
        OK(MPI_Request_free(&partitioned[i]));
    EQUAL(into[1], 7);
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
    OK(MPI_Psend_init(from, 2, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &partitioned[0]));
    OK(MPI_Precv_init(into, 2, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_INFO_NULL, &partitioned[1]));
    OK(MPI_Startall(2, partitioned));
    OK(MPI_Pready(0, partitioned[0]));
    return atexit(leave);
}
