/* Attributes of communicators: copied, replaced and deleted by callbacks, in order, which may refuse and call MPI.
   MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching. */
#include "check.h"

/* What the callbacks saw: the values, negative for deletion. */
static int seen[32], count;
/* What they return for this value, if it is not zero. */
static int refused, refusal;

static void saw(const int *expected, int n) {
    EQUAL(count, n);
    for (int i = 0; i < n; i++)
        EQUAL(seen[i], expected[i]);
    count = 0;
}
#define SAW(...) saw((int[]){__VA_ARGS__}, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)))

static int copy(MPI_Comm old, int keyval, void *extra, void *value, void *copied, int *flag) {
    CHECK(keyval != MPI_KEYVAL_INVALID && extra == &count && old == MPI_COMM_WORLD, "what a copy callback gets");
    seen[count++] = *(int *)value;
    *(void **)copied = value;
    *flag = *(int *)value != 2;
    return *(int *)value == refused ? refusal : MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    void *found;
    int flag, members;
    CHECK(extra == &count, "the extra state");
    OK(MPI_Comm_size(comm, &members));
    OK(MPI_Comm_get_attr(comm, keyval, &found, &flag));
    CHECK(flag && found == value, "an attribute can be read while it is deleted");
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(comm, keyval));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, keyval, extra));
    seen[count++] = -*(int *)value;
    return *(int *)value == refused ? refusal : MPI_SUCCESS;
}

/* Deletes the attribute whose keyval is its value, on the same communicator. */
static int delete_other(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval, (void)extra;
    return MPI_Comm_delete_attr(comm, *(int *)value);
}

static int values[] = {0, 1, 2, 3, 4};

static void in_order(int keys[]) {
    MPI_Comm comm;
    int flag, *found;
    for (int i = 1; i <= 3; i++)
        OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keys[i], &values[i]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    SAW(1, 2, 3);
    OK(MPI_Comm_get_attr(comm, keys[1], &found, &flag));
    CHECK(flag && found == &values[1], "it was copied");
    OK(MPI_Comm_get_attr(comm, keys[2], &found, &flag));
    CHECK(!flag, "its callback did not want it copied");
    OK(MPI_Comm_set_attr(comm, keys[1], &values[4]));
    SAW(-1);
    OK(MPI_Comm_free(&comm));
    SAW(-4, -3);
}

/* The call that made a callback refuse returns what the callback returned, and changes nothing. */
static void refusing(int keys[]) {
    MPI_Comm comm = MPI_COMM_NULL, kept;
    int class, flag, *found;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &refusal));
    refused = 3;
    EQUAL(MPI_Comm_dup(MPI_COMM_WORLD, &comm), refusal);
    CHECK(comm == MPI_COMM_NULL, "there is no duplicate");
    SAW(1, 2, 3, -1);
    EQUAL(MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[3]), refusal);
    EQUAL(MPI_Comm_set_attr(MPI_COMM_WORLD, keys[3], &values[4]), refusal);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[3], &found, &flag));
    CHECK(flag && found == &values[3], "it is as it was");
    SAW(-3, -3);
    refused = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    SAW(1, 2, 3);
    refused = 1;
    kept = comm;
    EQUAL(MPI_Comm_free(&comm), refusal);
    CHECK(comm == kept, "it is not freed");
    SAW(-3, -1);
    refusal = 1 << 20;
    GIVES(MPI_ERR_OTHER, MPI_Comm_free(&comm));
    SAW(-1);
    refused = 0;
    OK(MPI_Comm_free(&comm));
    SAW(-1);
}

/* A callback that refuses on one rank fails the call there, and keeps nobody waiting. */
static void refusing_on_one_rank(void) {
    MPI_Comm twins[2] = {MPI_COMM_NULL, MPI_COMM_NULL}, third;
    MPI_Request request;
    int refuses = rank == size / 2, sum;
    refused = refuses ? 3 : 0, refusal = MPI_ERR_INTERN;
    GIVES(refuses ? MPI_ERR_INTERN : MPI_SUCCESS, MPI_Comm_dup(MPI_COMM_WORLD, &twins[0]));
    GIVES(refuses ? MPI_ERR_INTERN : MPI_SUCCESS, MPI_Comm_idup(MPI_COMM_WORLD, &twins[1], &request));
    if (refuses)
        SAW(1, 2, 3, -1, 1, 2, 3, -1);
    else
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    refused = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &third));
    OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, third));
    EQUAL(sum, size);
    OK(MPI_Comm_free(&third));
    for (int i = 0; i < 2; i++) {
        EQUAL(twins[i] == MPI_COMM_NULL, refuses);
        if (!refuses)
            OK(MPI_Comm_free(&twins[i]));
    }
    count = 0;
}

static void freed_in_use(int keys[]) {
    int kept, flag, *found;
    kept = keys[3];
    OK(MPI_Comm_free_keyval(&keys[3]));
    EQUAL(keys[3], MPI_KEYVAL_INVALID);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, kept, &found, &flag));
    CHECK(flag && found == &values[3], "the attribute outlives the program's hold on its keyval");
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, kept));
    SAW(-3);
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, kept, &values[3]));
}

static void calling_mpi(int keys[]) {
    MPI_Comm comm;
    int outer, victim = keys[1];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_other, &outer, NULL));
    OK(MPI_Comm_set_attr(comm, outer, &victim));
    count = 0;
    OK(MPI_Comm_free(&comm));
    SAW(-1);
    OK(MPI_Comm_free_keyval(&outer));
}

static void wrong(int keys[]) {
    int of_types, flag, tag_ub = MPI_TAG_UB, *found;
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types, NULL));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, of_types, &values[0]));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, of_types, &found, &flag));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&of_types));
    OK(MPI_Type_free_keyval(&of_types));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &found, &flag));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_SELF, keys[1]));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &values[0]));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_APPNUM));
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&tag_ub));
    GIVES(MPI_ERR_COMM, MPI_Comm_set_attr(MPI_COMM_NULL, keys[1], &values[0]));
    GIVES(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, keys[1], NULL, &flag));
    GIVES(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_WORLD, keys[1], &found, NULL));
    GIVES(MPI_ERR_ARG, MPI_Comm_create_keyval(copy, delete, NULL, NULL));
    GIVES(MPI_ERR_ARG, MPI_Comm_free_keyval(NULL));
}

int main(int argc, char **argv) {
    int keys[4], flag, *found;
    begin(&argc, &argv);
    for (int i = 1; i <= 3; i++) {
        OK(MPI_Comm_create_keyval(copy, delete, &keys[i], &count));
        OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &found, &flag));
        CHECK(!flag, "nothing was set");
    }
    in_order(keys);
    refusing(keys);
    refusing_on_one_rank();
    freed_in_use(keys);
    calling_mpi(keys);
    wrong(keys);
    for (int i = 1; i <= 2; i++) {
        OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[i]));
        OK(MPI_Comm_free_keyval(&keys[i]));
    }
    return end();
}
