/* Intercommunicators between random groups, in random orders and with random leaders; duplicated, split and merged,
   against what the lists of members say.
   MPI-5.0: Groups, Contexts, Communicators, Inter-Communicator Operations. */
#include "intercomm.h"
#include "random.h"

enum { STEPS = 300, LARGEST = 64 };

static Random dice = {5};
static MPI_Group world;
/* The members of both groups, by their ranks in the world; and which of them leads. */
static int members[2][LARGEST], counts[2], leaders[2];

/* Two groups with members; some ranks are in neither. */
static void draw(void) {
    do {
        counts[0] = counts[1] = 0;
        side = -1;
        for (int other = 0; other < size; other++) {
            int group = next(&dice, 5) % 3;
            if (group == 2)
                continue;
            int place = next(&dice, counts[group] + 1), *list = members[group];
            memmove(list + place + 1, list + place, (counts[group]++ - place) * sizeof(int));
            list[place] = other;
            if (other == rank)
                side = group;
        }
    } while (counts[0] == 0 || counts[1] == 0);
    for (int group = 0; group < 2; group++)
        leaders[group] = next(&dice, counts[group]);
}

static MPI_Comm connect(int way, int tag) {
    MPI_Group groups[2];
    MPI_Comm made;
    for (int group = 0; group < 2; group++)
        OK(MPI_Group_incl(world, counts[group], members[group], &groups[group]));
    if (way == 0) {
        OK(MPI_Comm_create_from_group(groups[side], "own", MPI_INFO_NULL, MPI_ERRORS_RETURN, &local));
        OK(MPI_Intercomm_create(local, leaders[side], MPI_COMM_WORLD, members[!side][leaders[!side]], tag, &made));
        OK(MPI_Comm_free(&local));
    } else {
        OK(MPI_Intercomm_create_from_groups(groups[side], leaders[side], groups[!side], leaders[!side], "both",
                                            MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
    }
    for (int group = 0; group < 2; group++)
        OK(MPI_Group_free(&groups[group]));
    return made;
}

/* The group has these members, in this order. */
static void check_group(MPI_Group group, const int *expected, int count) {
    int ranks[LARGEST], found[LARGEST], total;
    for (int i = 0; i < count; i++)
        ranks[i] = i;
    OK(MPI_Group_size(group, &total));
    EQUAL(total, count);
    OK(MPI_Group_translate_ranks(group, count, ranks, world, found));
    CHECK(memcmp(found, expected, count * sizeof(int)) == 0, "the members are others");
    OK(MPI_Group_free(&group));
}

static void check(MPI_Comm comm, int (*expected)[LARGEST], const int *count) {
    MPI_Group group;
    OK(MPI_Comm_group(comm, &group));
    check_group(group, expected[side], count[side]);
    OK(MPI_Comm_remote_group(comm, &group));
    check_group(group, expected[!side], count[!side]);
    check_connected(comm, count[side], count[!side]);
}

static void check_duplicate(void) {
    MPI_Comm twin;
    MPI_Request request;
    OK(MPI_Comm_idup(inter, &twin, &request));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    inter = twin;
    check(inter, members, counts);
}

/* Each group in reverse order, without those that name no color or one that nobody names on the other side. */
static void check_split(void) {
    int part[2][2][LARGEST], many[2][2] = {{0}}, mine = MPI_UNDEFINED, place = 0;
    for (int group = 0; group < 2; group++)
        for (int i = counts[group] - 1; i >= 0; i--) {
            int color = next(&dice, 3);
            if (color < 2)
                part[color][group][many[color][group]++] = members[group][i];
            if (members[group][i] == rank)
                mine = color < 2 ? color : MPI_UNDEFINED, place = i;
        }
    MPI_Comm made;
    OK(MPI_Comm_split(inter, mine, -place, &made));
    int is_made = mine != MPI_UNDEFINED && many[mine][0] && many[mine][1];
    CHECK((made != MPI_COMM_NULL) == is_made, "only colors of both groups make something");
    if (is_made) {
        check(made, part[mine], many[mine]);
        OK(MPI_Comm_free(&made));
    }
}

static void check_merge(void) {
    int high[2] = {next(&dice, 2), next(&dice, 2)}, whole[LARGEST], found[LARGEST], total = counts[0] + counts[1];
    MPI_Comm all;
    OK(MPI_Intercomm_merge(inter, high[side], &all));
    OK(MPI_Allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, all));
    /* Where both say the same, either may come first. */
    int first = high[0] != high[1] ? high[0] : found[0] != members[0][0];
    memcpy(whole, members[first], counts[first] * sizeof(int));
    memcpy(whole + counts[first], members[!first], counts[!first] * sizeof(int));
    CHECK(memcmp(found, whole, total * sizeof(int)) == 0, "the groups follow each other in their orders");
    OK(MPI_Comm_free(&all));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (size == 1)
        return end();
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int step = 0; step < STEPS; step++) {
        draw();
        if (side >= 0) {
            inter = connect(step % 2, step % 3);
            check(inter, members, counts);
            check_duplicate();
        }
        /* All draw what the members draw. */
        Random before = dice;
        if (side >= 0) {
            check_split();
            check_merge();
            OK(MPI_Comm_free(&inter));
        }
        dice = before;
        next(&dice, 1000);
    }
    OK(MPI_Group_free(&world));
    return end();
}
