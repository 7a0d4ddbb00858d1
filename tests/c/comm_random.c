/* A random family of communicators, each made from another one, used and freed in any order; every rank knows the
   members of all of them, and compares.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Constructors; Communicator Destructors. */
#include "check.h"
#include "random.h"

enum { MOST = 12, STEPS = 1000, LARGEST = 64 };

/* A communicator as everybody knows it. */
typedef struct {
    int count, members[LARGEST]; /* their ranks in the world, in order */
    int mine;                    /* this rank's among them, or -1 */
    MPI_Comm comm;               /* null where this rank is not a member */
    MPI_Request request;         /* of a duplicate that need not be made yet */
} Known;

static Known known[MOST];
static int total;
static Random dice = {20};

static void find_mine(Known *it) {
    it->mine = -1;
    for (int i = 0; i < it->count; i++)
        if (it->members[i] == rank)
            it->mine = i;
}

/* A new one that has no members yet. */
static Known *add(void) {
    Known *it = &known[total++];
    *it = (Known){.mine = -1, .comm = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};
    return it;
}

/* Some of the members of `it`, in any order. */
static void choose(const Known *it, Known *some) {
    for (int i = 0; i < it->count; i++) {
        if (next(&dice, 4) == 0 && some->count > 0)
            continue;
        int place = next(&dice, some->count + 1);
        memmove(some->members + place + 1, some->members + place, (some->count++ - place) * sizeof(int));
        some->members[place] = it->members[i];
    }
    find_mine(some);
}

/* The group of the members, made of that of another communicator, of which they are members too. */
static MPI_Group group_of(const Known *it, const Known *of) {
    MPI_Group whole, part;
    int ranks[LARGEST];
    for (int i = 0; i < it->count; i++)
        for (int j = 0; j < of->count; j++)
            if (of->members[j] == it->members[i])
                ranks[i] = j;
    OK(MPI_Comm_group(of->comm, &whole));
    OK(MPI_Group_incl(whole, it->count, ranks, &part));
    OK(MPI_Group_free(&whole));
    return part;
}

static void check(Known *it) {
    int found[LARGEST], count, left = -1, right = (it->mine + 1) % it->count;
    if (it->mine < 0)
        return;
    OK(MPI_Wait(&it->request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_size(it->comm, &count));
    EQUAL(count, it->count);
    OK(MPI_Allgather(&rank, 1, MPI_INT, found, 1, MPI_INT, it->comm));
    CHECK(memcmp(found, it->members, count * sizeof(int)) == 0, "the members are others");
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &left, 1, MPI_INT, MPI_ANY_SOURCE, 0, it->comm, MPI_STATUS_IGNORE));
    EQUAL(left, it->members[(it->mine + count - 1) % count]);
}

static void duplicate(const Known *it, int is_nonblocking) {
    Known *twin = add();
    twin->count = it->count;
    memcpy(twin->members, it->members, sizeof twin->members);
    twin->mine = it->mine;
    if (it->mine >= 0 && is_nonblocking)
        OK(MPI_Comm_idup(it->comm, &twin->comm, &twin->request));
    else if (it->mine >= 0)
        OK(MPI_Comm_dup(it->comm, &twin->comm));
}

/* In two parts, each of them in reverse; one more rank is left out. */
static void split(const Known *it) {
    Known *parts[] = {add(), add()};
    int colors[LARGEST], out = next(&dice, it->count), mine = MPI_UNDEFINED;
    for (int i = it->count - 1; i >= 0; i--) {
        colors[i] = i == out ? MPI_UNDEFINED : next(&dice, 2);
        if (i != out)
            parts[colors[i]]->members[parts[colors[i]]->count++] = it->members[i];
    }
    for (int color = 0; color < 2; color++)
        find_mine(parts[color]);
    if (it->mine < 0)
        return;
    MPI_Comm made;
    mine = colors[it->mine];
    OK(MPI_Comm_split(it->comm, mine, -it->mine, &made));
    if (mine == MPI_UNDEFINED)
        CHECK(made == MPI_COMM_NULL, "who names no color gets nothing");
    else
        parts[mine]->comm = made;
}

static void create(const Known *it, int way) {
    Known *part = add();
    choose(it, part);
    if (it->mine < 0 || (way > 0 && part->mine < 0))
        return;
    MPI_Group group = group_of(part, it);
    if (way == 0)
        OK(MPI_Comm_create(it->comm, group, &part->comm));
    else if (way == 1)
        OK(MPI_Comm_create_group(it->comm, group, way, &part->comm));
    else
        OK(MPI_Comm_create_from_group(group, "part", MPI_INFO_NULL, MPI_ERRORS_RETURN, &part->comm));
    CHECK((part->comm == MPI_COMM_NULL) == (part->mine < 0), "members alone get a communicator");
    OK(MPI_Group_free(&group));
}

static void drop(int which) {
    if (known[which].mine >= 0) {
        OK(MPI_Wait(&known[which].request, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&known[which].comm));
    }
    known[which] = known[--total];
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    Known *world = add();
    for (int i = 0; i < size; i++)
        world->members[world->count++] = i;
    world->mine = rank;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world->comm));
    for (int step = 0; step < STEPS; step++) {
        int which = next(&dice, total), what = next(&dice, 9);
        Known *it = &known[which];
        if (it->count == 0 || total + 2 > MOST) {
            drop(1 + next(&dice, total - 1));
        } else if (what < 3) {
            check(it);
        } else {
            if (it->mine >= 0)
                OK(MPI_Wait(&it->request, MPI_STATUS_IGNORE));
            if (what < 5)
                duplicate(it, what == 4);
            else if (what == 5)
                split(it);
            else
                create(it, what - 6);
        }
    }
    while (total > 0)
        drop(total - 1);
    return end();
}
