/* Communicators made and freed over and over, or not made, use no more memory than one.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Destructors. */
#include "resident.h"

static void come_and_go(long times) {
    for (long i = 0; i < times; i++) {
        MPI_Comm twin;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
        OK(MPI_Comm_free(&twin));
    }
}

static int refuse(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)state, (void)in, (void)out, (void)flag;
    return MPI_ERR_OTHER;
}

/* Duplicates that one rank in three fails to make, which the others get. */
static void refuse_and_go(long times) {
    MPI_Comm parent, twin;
    MPI_Request request;
    int keyval;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    if (rank % 3 == 0)
        OK(MPI_Comm_set_attr(parent, keyval, NULL));
    for (long i = 0; i < times; i++) {
        if (rank % 3 == 0) {
            GIVES(MPI_ERR_OTHER, MPI_Comm_idup(parent, &twin, &request));
        } else {
            OK(MPI_Comm_idup(parent, &twin, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            OK(MPI_Comm_free(&twin));
        }
        if (i % 10 == 0)
            OK(MPI_Barrier(parent)); /* those that fail do not wait for the others */
    }
    OK(MPI_Comm_free(&parent));
    OK(MPI_Comm_free_keyval(&keyval));
}

/* Groups that find nobody on the other side. */
static void try_and_fail(long times) {
    MPI_Comm inter;
    for (long i = 0; i < times; i++) {
        GIVES(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_WORLD, 0, MPI_COMM_WORLD, size, 0, &inter));
        GIVES(MPI_ERR_PORT, MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    long times = argc > 1 ? atol(argv[1]) : size > 4 ? 2000 : 20000;
    come_and_go(1000);
    refuse_and_go(100);
    try_and_fail(100);
    long before = resident();
    come_and_go(times);
    refuse_and_go(500);
    try_and_fail(500);
    long grown = (resident() - before) * sysconf(_SC_PAGESIZE);
    CHECK(grown < 1 << 20, "%ld bytes more after %ld rounds", grown, times);
    return end();
}
