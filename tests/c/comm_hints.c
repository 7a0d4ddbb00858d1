/* Hints of communicators: what was asserted is told back, is updated, and is not inherited.
   MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Info. */
#include "check.h"

static const char *const ASSERTIONS[] = {
    "mpi_assert_allow_overtaking", "mpi_assert_exact_length", "mpi_assert_no_any_source", "mpi_assert_no_any_tag",
    "mpi_assert_strict_persistent_collective_ordering",
};

/* The value of a hint of the communicator, which is there. */
static const char *hint(MPI_Comm comm, const char *key) {
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;
    MPI_Info used;
    OK(MPI_Comm_get_info(comm, &used));
    OK(MPI_Info_get_string(used, key, &length, value, &flag));
    CHECK(flag, "no value of %s", key);
    OK(MPI_Info_free(&used));
    return value;
}

static void check(MPI_Comm comm, const char *key, const char *expected) {
    const char *found = hint(comm, key);
    CHECK(strcmp(found, expected) == 0, "%s is %s, not %s", key, found, expected);
}

static void check_defaults(MPI_Comm comm) {
    for (int i = 0; i < 5; i++)
        check(comm, ASSERTIONS[i], "false");
    CHECK(strstr(hint(comm, "mpi_memory_alloc_kinds"), "system"), "memory of the system is supported");
}

static void set(MPI_Comm comm, const char *key, const char *value) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    OK(MPI_Comm_set_info(comm, info));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    MPI_Comm copy, own, node;
    MPI_Info info;
    int value = 0, flag;
    begin(&argc, &argv);
    check_defaults(MPI_COMM_WORLD);
    check_defaults(MPI_COMM_SELF);

    set(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "true");
    set(MPI_COMM_WORLD, "mpi_assert_no_any_source", "true");
    check(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "true");
    check(MPI_COMM_WORLD, "mpi_assert_no_any_source", "true");
    set(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "perhaps");
    check(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "true");
    set(MPI_COMM_WORLD, "mpi_assert_no_any_tag", " false ");
    check(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "false");
    check(MPI_COMM_WORLD, "mpi_assert_no_any_source", "true");
    set(MPI_COMM_WORLD, "mpi_assert_memory_alloc_kinds", "system");
    check(MPI_COMM_WORLD, "mpi_assert_memory_alloc_kinds", "system");

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    check_defaults(copy);
    OK(MPI_Comm_free(&copy));

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_exact_length", "true"));
    OK(MPI_Info_set(info, "a hint of somebody else's", "1"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &own));
    check(own, "mpi_assert_exact_length", "true");
    check(own, "mpi_assert_no_any_source", "false");
    OK(MPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, 0, info, &node));
    check(node, "mpi_assert_exact_length", "true");
    OK(MPI_Dist_graph_create_adjacent(own, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, info, 0, &copy));
    check(copy, "mpi_assert_exact_length", "true");
    OK(MPI_Comm_free(&copy));
    OK(MPI_Dist_graph_create(own, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, info, 0, &copy));
    check(copy, "mpi_assert_exact_length", "true");
    OK(MPI_Comm_free(&copy));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_info(node, &info));
    OK(MPI_Info_get_string(info, "a hint of somebody else's", &value, NULL, &flag));
    CHECK(!flag, "a hint that is not known is not in use");
    OK(MPI_Comm_free(&node));
    OK(MPI_Comm_free(&own));

    GIVES(MPI_ERR_COMM, MPI_Comm_set_info(MPI_COMM_NULL, info));
    GIVES(MPI_ERR_COMM, MPI_Comm_get_info(MPI_COMM_NULL, &info));
    GIVES(MPI_ERR_ARG, MPI_Comm_get_info(MPI_COMM_SELF, NULL));
    OK(MPI_Info_free(&info));
    return end();
}
