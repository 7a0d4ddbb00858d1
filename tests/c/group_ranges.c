/* Groups of ranges, up and down, and what is made of them; each against a list.
   MPI-5.0: Groups, Contexts, Communicators, Group Constructors. */
#include "check.h"

enum { MOST = 64 };

static MPI_Group world;

/* The ranks of one range, as the standard spells them out. */
static int spell_out(const int *range, int *ranks) {
    int count = (range[1] - range[0]) / range[2] + 1;
    for (int i = 0; i < count; i++)
        ranks[i] = range[0] + i * range[2];
    return count;
}

static void same(MPI_Group found, MPI_Group expected) {
    int comparison;
    OK(MPI_Group_compare(found, expected, &comparison));
    EQUAL(comparison, MPI_IDENT);
}

static void drop(MPI_Group group) {
    if (group != MPI_GROUP_EMPTY)
        OK(MPI_Group_free(&group));
}

/* Ranges choose the same members as the ranks that they stand for, of any group. */
static void check_ranges(MPI_Group of, int n, int (*ranges)[3]) {
    int ranks[MOST], count = 0, found, own = MPI_UNDEFINED, here;
    MPI_Group with, without, listed, unlisted;
    for (int i = 0; i < n; i++)
        count += spell_out(ranges[i], ranks + count);
    OK(MPI_Group_range_incl(of, n, ranges, &with));
    OK(MPI_Group_incl(of, count, ranks, &listed));
    same(with, listed);
    OK(MPI_Group_range_excl(of, n, ranges, &without));
    OK(MPI_Group_excl(of, count, ranks, &unlisted));
    same(without, unlisted);
    OK(MPI_Group_size(with, &found));
    EQUAL(found, count);
    OK(MPI_Group_rank(of, &here));
    for (int i = 0; i < count; i++)
        if (here == ranks[i])
            own = i;
    OK(MPI_Group_rank(with, &found));
    EQUAL(found, own);
    drop(with), drop(without), drop(listed), drop(unlisted);
}

static void check_sets(MPI_Group evens, MPI_Group odds) {
    MPI_Group both, none, back;
    int comparison, count;
    OK(MPI_Group_union(evens, odds, &both));
    OK(MPI_Group_compare(both, world, &comparison));
    EQUAL(comparison, size <= 2 ? MPI_IDENT : MPI_SIMILAR);
    OK(MPI_Group_intersection(evens, odds, &none));
    CHECK(none == MPI_GROUP_EMPTY, "nobody is in both");
    OK(MPI_Group_union(none, evens, &back));
    same(back, evens);
    OK(MPI_Group_rank(back, &count));
    EQUAL(count, rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED);
    drop(back);
    OK(MPI_Group_difference(both, evens, &back));
    same(back, odds);
    drop(back), drop(both);
}

static void check_translation(MPI_Group evens) {
    int ranks[4] = {0, MPI_PROC_NULL, size - 1, size / 2}, translated[4];
    OK(MPI_Group_translate_ranks(world, 4, ranks, evens, translated));
    EQUAL(translated[0], 0);
    EQUAL(translated[1], MPI_PROC_NULL);
    for (int i = 2; i < 4; i++)
        EQUAL(translated[i], ranks[i] % 2 == 0 ? ranks[i] / 2 : MPI_UNDEFINED);
    ranks[3] = size;
    translated[0] = -77;
    GIVES(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 4, ranks, evens, translated));
    EQUAL(translated[0], -77);
}

static void refuses(int class, int first, int last, int stride) {
    int ranges[2][3] = {{0, 0, 1}, {first, last, stride}};
    MPI_Group group = MPI_GROUP_NULL;
    GIVES(class, MPI_Group_range_incl(world, 1, ranges + 1, &group));
    GIVES(class, MPI_Group_range_excl(world, 2, ranges, &group));
    CHECK(group == MPI_GROUP_NULL, "a call that fails sets nothing");
}

int main(int argc, char **argv) {
    MPI_Group evens, odds = MPI_GROUP_EMPTY, shuffled, empty;
    begin(&argc, &argv);
    int last = size - 1, twice[2][3] = {{0, last, 1}, {last, 0, -1}};
    int even[1][3] = {{0, last, 2}}, odd[1][3] = {{1, last, 2}}, down[1][3] = {{last, 0, -3}};
    int parts[2][3] = {{last, (size + 1) / 2, -1}, {0, (size - 1) / 2, 1}};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, even, &evens));
    if (size > 1)
        OK(MPI_Group_range_incl(world, 1, odd, &odds));
    check_sets(evens, odds);
    check_translation(evens);
    if (size > 1) {
        OK(MPI_Group_range_incl(world, 2, parts, &shuffled));
        check_ranges(world, 2, parts);
        check_ranges(shuffled, 1, even);
        check_ranges(shuffled, 2, parts);
        drop(shuffled);
        refuses(MPI_ERR_ARG, 0, last, -1);
        refuses(MPI_ERR_ARG, last, 0, 1);
    }
    check_ranges(world, 1, even);
    check_ranges(world, 1, down);
    int beyond[2][3] = {{0, size, size + 1}, {last, -size, -2 * size}};
    check_ranges(world, 1, beyond); /* what is computed must be ranks: the last one of a triplet need not be one */
    check_ranges(world, 1, beyond + 1);
    check_ranges(world, 0, NULL);
    refuses(MPI_ERR_ARG, 0, last, 0);
    refuses(MPI_ERR_RANK, 0, size, 1);
    refuses(MPI_ERR_RANK, last, size + 5, 1);
    refuses(MPI_ERR_RANK, last, -1, -size);
    refuses(MPI_ERR_RANK, -1, last, 1);
    GIVES(MPI_ERR_RANK, MPI_Group_range_incl(world, 2, twice, &empty));
    GIVES(MPI_ERR_RANK, MPI_Group_range_excl(world, 2, twice, &empty));
    drop(evens), drop(odds), drop(world);
    return end();
}
