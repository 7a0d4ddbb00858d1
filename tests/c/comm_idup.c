/* Duplicates made without waiting: several at once, beside other operations, completed in any order.
   MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_IDUP, MPI_COMM_IDUP_WITH_INFO. */
#include "check.h"

enum { TWINS = 5 };

static int copied;

static int copy(MPI_Comm comm, int keyval, void *state, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)state;
    *(void **)out = in;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static void check_several(void) {
    MPI_Comm twins[TWINS];
    MPI_Request requests[TWINS + 1];
    int sum, result;
    for (int i = 0; i < TWINS; i++)
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &twins[i], &requests[i]));
    OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[TWINS]));
    if (rank % 2)
        OK(MPI_Waitall(TWINS + 1, requests, MPI_STATUSES_IGNORE));
    for (int i = TWINS; i >= 0; i--)
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    EQUAL(sum, size * (size - 1) / 2);
    for (int i = 0; i < TWINS; i++) {
        OK(MPI_Comm_compare(MPI_COMM_WORLD, twins[i], &result));
        EQUAL(result, MPI_CONGRUENT);
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, twins[i]));
        EQUAL(sum, i * size);
    }
    for (int i = 0; i < TWINS; i++)
        OK(MPI_Comm_free(&twins[i]));
}

/* Attributes are copied, hints are taken, and the parent may be freed before the child is there. */
static void check_what_is_inherited(void) {
    MPI_Comm parent, child;
    MPI_Request request;
    MPI_Info info;
    int keyval, flag, value = 7, *found, buflen = 8;
    char text[8];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(parent, keyval, &value));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_idup_with_info(parent, info, &child, &request));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&parent));
    EQUAL(copied, 1);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_attr(child, keyval, &found, &flag));
    CHECK(flag && found == &value, "the attribute is copied");
    OK(MPI_Comm_get_info(child, &info));
    OK(MPI_Info_get_string(info, "mpi_assert_no_any_tag", &buflen, text, &flag));
    CHECK(flag && strcmp(text, "true") == 0, "the hint is kept");
    OK(MPI_Info_free(&info));
    GIVES(MPI_ERR_TAG, MPI_Send(NULL, 0, MPI_INT, 0, -5, child)); /* the error handler is inherited, too */
    OK(MPI_Barrier(child));
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Comm_free(&child));
}

/* The standard has programs wait before they use the new communicator; mpi4py, among others, sets its error handler
   at once, and nobody refuses that. */
static void check_early_error_handler(void) {
    MPI_Comm child;
    MPI_Request request;
    MPI_Errhandler found;
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &child, &request));
    OK(MPI_Comm_set_errhandler(child, MPI_ERRORS_ABORT));
    OK(MPI_Comm_get_errhandler(child, &found));
    CHECK(found == MPI_ERRORS_ABORT, "it is set before the communicator is made");
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_errhandler(child, &found));
    CHECK(found == MPI_ERRORS_ABORT, "and kept");
    OK(MPI_Comm_free(&child));
    GIVES(MPI_ERR_COMM, MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN));
}

/* What is known to be complete can be used, whether the request is completed or not. */
static void check_use_before_wait(void) {
    MPI_Comm child;
    MPI_Request request;
    int sum, flag = 0;
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &child, &request));
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, child));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&child));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(request == MPI_REQUEST_NULL, "it is completed once");
}

int main(int argc, char **argv) {
    MPI_Comm child = MPI_COMM_NULL;
    MPI_Request request;
    begin(&argc, &argv);
    for (int round = 0; round < 20; round++)
        check_several();
    check_what_is_inherited();
    check_early_error_handler();
    check_use_before_wait();
    GIVES(MPI_ERR_COMM, MPI_Comm_idup(MPI_COMM_NULL, &child, &request));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &child, &request));
    if (size == 1) /* the others might be through already */
        GIVES(MPI_ERR_COMM, MPI_Barrier(child));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&child));
    return end();
}
