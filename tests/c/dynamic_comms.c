/* Communicators and groups of the processes of several jobs. MPI-5.0: Groups, Contexts, Communicators, and Caching. */
#include "jobs.h"

enum { MOST = 64 };

static int copies, deletes;

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag) {
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* Everybody is there, in this order, and can be spoken with. */
static void check_comm(MPI_Comm comm, int expected_size, int expected_rank) {
    int found, all[MOST], sum;
    OK(MPI_Comm_size(comm, &found));
    EQUAL(found, expected_size);
    OK(MPI_Comm_rank(comm, &found));
    EQUAL(found, expected_rank);
    OK(MPI_Allgather(&found, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int r = 0; r < expected_size; r++)
        EQUAL(all[r], r);
    int right = (found + 1) % expected_size, left = (found + expected_size - 1) % expected_size;
    OK(MPI_Sendrecv(&found, 1, MPI_INT, right, 1, &sum, 1, MPI_INT, left, 1, comm, MPI_STATUS_IGNORE));
    EQUAL(sum, left);
}

static void check_groups(void) {
    MPI_Group all, world, others, group, back;
    int result, found, ranks[MOST], translated[MOST], world_size, world_rank;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
    OK(MPI_Comm_group(everybody, &all));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_difference(all, world, &others));
    OK(MPI_Group_size(others, &found));
    EQUAL(found, size - world_size);
    OK(MPI_Group_intersection(all, world, &group));
    OK(MPI_Group_compare(group, world, &result));
    EQUAL(result, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_intersection(others, world, &group));
    EQUAL(group == MPI_GROUP_EMPTY, 1);
    OK(MPI_Group_union(others, world, &group));
    OK(MPI_Group_compare(group, all, &result));
    CHECK(result == MPI_SIMILAR || result == MPI_IDENT, "all are in both");
    OK(MPI_Group_rank(group, &found));
    EQUAL(found, size - world_size + world_rank);
    for (int r = 0; r < size; r++)
        ranks[r] = r;
    OK(MPI_Group_translate_ranks(all, size, ranks, others, translated));
    int strangers = 0;
    for (int r = 0; r < size; r++)
        strangers += translated[r] != MPI_UNDEFINED;
    EQUAL(strangers, size - world_size);
    OK(MPI_Group_translate_ranks(world, world_size, ranks, all, translated));
    for (int r = 1; r < world_size; r++)
        EQUAL(translated[r], translated[0] + r);
    EQUAL(translated[world_rank], rank);
    OK(MPI_Group_free(&group));
    /* Every other rank, backwards. */
    int range[1][3] = {{size - 1, 0, -2}}, count = (size + 1) / 2;
    OK(MPI_Group_range_incl(all, 1, range, &group));
    OK(MPI_Group_size(group, &found));
    EQUAL(found, count);
    OK(MPI_Group_translate_ranks(group, count, ranks, all, translated));
    for (int r = 0; r < count; r++)
        EQUAL(translated[r], size - 1 - 2 * r);
    OK(MPI_Group_excl(all, count, translated, &back));
    OK(MPI_Group_size(back, &found));
    EQUAL(found, size - count);
    OK(MPI_Group_free(&back));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&world));
    if (others != MPI_GROUP_EMPTY)
        OK(MPI_Group_free(&others));
}

static void check_constructors(void) {
    MPI_Comm comm, again;
    MPI_Group all, group;
    MPI_Info info;
    MPI_Request request;
    int result, world_size, world_rank, keyval, flag, range[1][3] = {{size - 1, 0, -2}};
    void *value;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &world_size));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank));
    OK(MPI_Comm_create_keyval(copy, drop, &keyval, NULL));
    OK(MPI_Comm_set_attr(everybody, keyval, &keyval));

    OK(MPI_Comm_dup(everybody, &comm));
    EQUAL(copies, 1);
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    CHECK(flag && value == &keyval, "the attribute is copied");
    OK(MPI_Comm_compare(everybody, comm, &result));
    EQUAL(result, MPI_CONGRUENT);
    OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
    EQUAL(result, everybody == MPI_COMM_WORLD ? MPI_CONGRUENT : MPI_UNEQUAL);
    check_comm(comm, size, rank);
    OK(MPI_Comm_idup(comm, &again, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_comm(again, size, rank);
    OK(MPI_Comm_disconnect(&comm));
    EQUAL(deletes, 1);
    check_comm(again, size, rank);
    OK(MPI_Comm_free(&again));
    EQUAL(deletes, 2);
    OK(MPI_Comm_delete_attr(everybody, keyval));
    OK(MPI_Comm_free_keyval(&keyval));

    /* Backwards; by job, which gives back the worlds; by the machine. */
    OK(MPI_Comm_split(everybody, 0, -rank, &comm));
    check_comm(comm, size, size - 1 - rank);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(everybody, rank - world_rank, 0, &comm));
    OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
    EQUAL(result, MPI_CONGRUENT);
    check_comm(comm, world_size, world_rank);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
    OK(MPI_Comm_split_type(everybody, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_compare(MPI_COMM_WORLD, comm, &result));
    EQUAL(result, MPI_CONGRUENT);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split_type(everybody, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    if (getenv("OXMPI_HOST") == NULL) /* all are on this machine */
        check_comm(comm, size, rank);
    OK(MPI_Comm_free(&comm));

    /* Of every other one: collective over all, and over the group alone. */
    OK(MPI_Comm_group(everybody, &all));
    OK(MPI_Group_range_incl(all, 1, range, &group));
    int is_member = (size - 1 - rank) % 2 == 0, members = (size + 1) / 2;
    OK(MPI_Comm_create(everybody, group, &comm));
    EQUAL(comm != MPI_COMM_NULL, is_member);
    if (is_member) {
        check_comm(comm, members, (size - 1 - rank) / 2);
        OK(MPI_Comm_create_group(everybody, group, 7, &again));
        check_comm(again, members, (size - 1 - rank) / 2);
        OK(MPI_Comm_free(&again));
        OK(MPI_Comm_create_from_group(group, "between jobs", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
        check_comm(again, members, (size - 1 - rank) / 2);
        OK(MPI_Comm_free(&again));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
}

/* Between the two halves, which are not the jobs. */
static void check_between(void) {
    MPI_Comm half, inter, merged, copy;
    int side = rank % 2, found;
    if (size < 2)
        return;
    OK(MPI_Comm_split(everybody, side, 0, &half));
    OK(MPI_Intercomm_create(half, 0, everybody, 1 - side, 3, &inter));
    OK(MPI_Comm_remote_size(inter, &found));
    EQUAL(found, side ? (size + 1) / 2 : size / 2);
    OK(MPI_Comm_dup(inter, &copy));
    OK(MPI_Barrier(copy));
    OK(MPI_Intercomm_merge(copy, !side, &merged));
    check_comm(merged, size, rank / 2 + (side ? 0 : size / 2));
    OK(MPI_Comm_disconnect(&copy));
    OK(MPI_Comm_disconnect(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void check_topologies(void) {
    MPI_Comm comm;
    int dims[] = {size, 1}, periods[] = {1, 0}, left, right, found[4];
    OK(MPI_Cart_create(everybody, 2, dims, periods, 0, &comm));
    OK(MPI_Cart_shift(comm, 0, 1, &left, &right));
    EQUAL(right, (rank + 1) % size);
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, comm));
    EQUAL(found[0], left);
    EQUAL(found[1], right);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Dist_graph_create_adjacent(everybody, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &comm));
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, comm));
    EQUAL(found[0], left);
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    begin_jobs(&argc, &argv);
    for (int round = 0; round < 3; round++) {
        copies = deletes = 0;
        check_groups();
        check_constructors();
        check_between();
        check_topologies();
    }
    return end_jobs();
}
