/* Communicators made of groups, where no communicator of all members is at hand.
   MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_CREATE_GROUP, MPI_INTERCOMM_CREATE_FROM_GROUPS. */
#include "intercomm.h"

static MPI_Group group_of_world(int first, int step, int count) {
    MPI_Group world, group;
    int range[1][3] = {{first, first + step * (count - 1), step}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &group));
    OK(MPI_Group_free(&world));
    return group;
}

static void check_sum(MPI_Comm comm, int members) {
    int sum, count, mine;
    OK(MPI_Comm_size(comm, &count));
    EQUAL(count, members);
    OK(MPI_Comm_rank(comm, &mine));
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, members * (members - 1) / 2);
}

/* The odd ranks do not take part. Two communicators are made in one order by some and used in another by all. */
static void check_create_group(void) {
    MPI_Comm evens = MPI_COMM_NULL, reversed = MPI_COMM_NULL;
    int count = (size + 1) / 2, found;
    if (rank % 2 == 0) {
        MPI_Group group = group_of_world(0, 2, count);
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 2147483647, &evens));
        check_sum(evens, count);
        OK(MPI_Group_free(&group));
        group = group_of_world(2 * (count - 1), -2, count);
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &reversed));
        OK(MPI_Comm_rank(reversed, &found));
        EQUAL(found, count - 1 - rank / 2);
        check_sum(reversed, count);
        OK(MPI_Group_free(&group));
        OK(MPI_Comm_free(&reversed));
        OK(MPI_Comm_free(&evens));
    } else {
        MPI_Group group = group_of_world(0, 2, count);
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &evens));
        CHECK(evens == MPI_COMM_NULL, "an odd rank is not a member");
        OK(MPI_Group_free(&group));
    }
    MPI_Group all = group_of_world(0, 1, size);
    GIVES(MPI_ERR_TAG, MPI_Comm_create_group(MPI_COMM_WORLD, all, -1, &evens));
    if (size > 1)
        GIVES(MPI_ERR_GROUP, MPI_Comm_create_group(MPI_COMM_SELF, all, 0, &evens));
    OK(MPI_Group_free(&all));
}

/* What a leader does wrong, its whole group hears of; the other group passes the same, for it would wait. */
static void check_wrong_groups(MPI_Group own, MPI_Group other) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    GIVES(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(other, 0, own, 0, "", info, handler, &comm));
    GIVES(MPI_ERR_RANK, MPI_Intercomm_create_from_groups(own, -1, other, 0, "", info, handler, &comm));
    GIVES(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(own, 0, own, 0, "", info, handler, &comm));
    GIVES(MPI_ERR_GROUP, MPI_Intercomm_create_from_groups(own, 0, MPI_GROUP_NULL, 0, "", info, handler, &comm));
    GIVES(MPI_ERR_RANK, MPI_Intercomm_create_from_groups(own, 0, other, size, "", info, handler, &comm));
    CHECK(comm == MPI_COMM_NULL, "failures make nothing");
}

/* The call is local, and makes nothing. */
static void check_empty_groups(MPI_Group own) {
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(MPI_Intercomm_create_from_groups(own, 0, MPI_GROUP_EMPTY, 0, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL, "there is no remote group");
    comm = MPI_COMM_WORLD;
    OK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, own, 0, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL, "there is no local group");
}

static void check_from_groups(void) {
    int lows = size / 2, is_high = rank >= lows;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group low = group_of_world(0, 1, lows), high = group_of_world(lows, 1, size - lows);
    MPI_Group own = is_high ? high : low, other = is_high ? low : high;
    side = is_high;
    /* The first of the lower ranks, the last of the higher ones; the arguments of others are not looked at. */
    int leader = is_high ? size - lows - 1 : 0, remote_leader = is_high ? 0 : size - lows - 1;
    int is_leader = rank == 0 || rank == size - 1;
    OK(MPI_Intercomm_create_from_groups(own, leader, is_leader ? other : MPI_GROUP_NULL,
                                        is_leader ? remote_leader : -7, "halves", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &comm));
    check_connected(comm, is_high ? size - lows : lows, is_high ? lows : size - lows);
    GIVES(MPI_ERR_RANK, MPI_Send(&side, 1, MPI_INT, size, 0, comm));
    OK(MPI_Comm_free(&comm));
    check_wrong_groups(own, other);
    check_empty_groups(own);
    OK(MPI_Group_free(&low));
    OK(MPI_Group_free(&high));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < 10; round++) {
        check_create_group();
        if (size > 1)
            check_from_groups();
    }
    return end();
}
