/* Intercommunicators: made, asked, used for messages, duplicated, split, cut down, merged.
   MPI-5.0: Groups, Contexts, Communicators, Inter-Communication. */
#include "intercomm.h"

static void check_groups(void) {
    MPI_Group group, world;
    int count, ranks[64], in_world[64];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int i = 0; i < 64; i++)
        ranks[i] = i;
    OK(MPI_Comm_remote_group(inter, &group));
    OK(MPI_Group_size(group, &count));
    EQUAL(count, remotes);
    OK(MPI_Group_translate_ranks(group, count, ranks, world, in_world));
    for (int i = 0; i < count; i++)
        EQUAL(in_world[i], world_rank(1 - side, i));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_rank(group, &count));
    EQUAL(count, me);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
}

static void check_duplicates(void) {
    MPI_Comm twin, later;
    MPI_Request request;
    int result;
    OK(MPI_Comm_idup(inter, &later, &request));
    OK(MPI_Comm_dup(inter, &twin));
    check_connected(twin, locals, remotes);
    OK(MPI_Comm_compare(inter, twin, &result));
    EQUAL(result, MPI_CONGRUENT);
    OK(MPI_Comm_compare(inter, inter, &result));
    EQUAL(result, MPI_IDENT);
    OK(MPI_Comm_compare(inter, local, &result));
    EQUAL(result, MPI_UNEQUAL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_connected(later, locals, remotes);
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&twin));
}

/* Each group in reverse order; then colors that one group alone names. */
static void check_splits(void) {
    MPI_Comm part;
    int found;
    OK(MPI_Comm_split(inter, 4, -me, &part));
    OK(MPI_Comm_rank(part, &found));
    EQUAL(found, locals - 1 - me);
    check_connected(part, locals, remotes);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split(inter, side, 0, &part));
    CHECK(part == MPI_COMM_NULL, "nobody of the other group names this color");
    OK(MPI_Comm_split(inter, me == 0 ? 1 : MPI_UNDEFINED, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (me != 0), "the first of each group");
    if (part != MPI_COMM_NULL) {
        check_connected(part, 1, 1);
        OK(MPI_Comm_free(&part));
    }
}

static void check_subgroups(void) {
    MPI_Group group, last;
    MPI_Comm part;
    int which = locals - 1;
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_incl(group, 1, &which, &last));
    OK(MPI_Comm_create(inter, last, &part));
    CHECK((part == MPI_COMM_NULL) == (me != which), "the last of each group");
    if (part != MPI_COMM_NULL) {
        check_connected(part, 1, 1);
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_create(inter, side ? last : MPI_GROUP_EMPTY, &part));
    CHECK(part == MPI_COMM_NULL, "one side has no member");
    OK(MPI_Group_free(&last));
    OK(MPI_Group_free(&group));
}

static void check_merges(void) {
    MPI_Comm all;
    int found, ranks[64];
    for (int high = 0; high < 2; high++) {
        OK(MPI_Intercomm_merge(inter, side == high, &all));
        OK(MPI_Comm_size(all, &found));
        EQUAL(found, size);
        OK(MPI_Comm_rank(all, &found));
        EQUAL(found, side == high ? remotes + me : me);
        OK(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, all));
        EQUAL(ranks[found], rank);
        OK(MPI_Comm_free(&all));
    }
    OK(MPI_Intercomm_merge(inter, 1, &all));
    OK(MPI_Comm_rank(all, &found));
    OK(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, all));
    EQUAL(ranks[found], rank);
    OK(MPI_Comm_free(&all));
}

static void check_errors(void) {
    MPI_Comm none = MPI_COMM_NULL;
    int number = 0;
    GIVES(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &number));
    GIVES(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &none));
    GIVES(MPI_ERR_COMM, MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &none));
    GIVES(MPI_ERR_COMM, MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &none));
    GIVES(MPI_ERR_RANK, MPI_Send(&number, 1, MPI_INT, remotes, 0, inter));
    OK(MPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN));
    GIVES(MPI_ERR_RANK, MPI_Intercomm_create(local, locals, MPI_COMM_WORLD, 0, 0, &none));
    /* What the leader does wrong, the whole group hears of. */
    GIVES(MPI_ERR_RANK, MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, size, 0, &none));
    GIVES(MPI_ERR_COMM, MPI_Intercomm_create(local, 0, local, 0, 0, &none));
    CHECK(none == MPI_COMM_NULL, "failures make nothing");
}

/* The leaders reach each other by an intercommunicator, too. */
static void check_nested(void) {
    MPI_Comm again;
    OK(MPI_Intercomm_create(local, locals - 1, inter, remotes - 1, 5, &again));
    check_connected(again, locals, remotes);
    OK(MPI_Comm_free(&again));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (size == 1)
        return end();
    for (int round = 0; round < 5; round++) {
        connect_groups();
        check_connected(inter, locals, remotes);
        check_groups();
        check_duplicates();
        check_splits();
        check_subgroups();
        check_merges();
        check_nested();
        check_errors();
        disconnect_groups();
    }
    return end();
}
