/* Attributes: predefined ones, and own ones copied and deleted by their callbacks.
   MPI-5.0: Groups, Contexts, Communicators, Caching. */
#include "check.h"

static int copied, deleted;

static int copy(MPI_Comm old, int keyval, void *extra, void *value, void *copy_of_value, int *flag) {
    (void)old, (void)keyval, (void)extra;
    copied++;
    *(void **)copy_of_value = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    int keyval, flag, stored = 42, *found, *bound;
    MPI_Comm copy_of_world;
    begin(&argc, &argv);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag));
    CHECK(flag && *bound >= 32767, "the least upper bound of tags");
    OK(MPI_Comm_create_keyval(copy, delete, &keyval, NULL));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &found, &flag));
    CHECK(!flag, "nothing was stored");
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &stored));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy_of_world));
    EQUAL(copied, 1);
    OK(MPI_Comm_get_attr(copy_of_world, keyval, &found, &flag));
    CHECK(flag && found == &stored, "the copy holds what was stored");
    OK(MPI_Comm_free(&copy_of_world));
    EQUAL(deleted, 1);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    EQUAL(deleted, 2);
    OK(MPI_Comm_free_keyval(&keyval));
    EQUAL(keyval, MPI_KEYVAL_INVALID);
    return end();
}
