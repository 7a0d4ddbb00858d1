/* Groups as ordered sets. MPI-5.0: Groups, Contexts, Communicators, Group Management. */
#include "check.h"

static void expect(MPI_Group group, MPI_Group world, const int *ranks, int count) {
    int found, translated[64], own[64];
    OK(MPI_Group_size(group, &found));
    EQUAL(found, count);
    for (int i = 0; i < count; i++)
        own[i] = i;
    OK(MPI_Group_translate_ranks(group, count, own, world, translated));
    for (int i = 0; i < count; i++)
        EQUAL(translated[i], ranks[i]);
}

static MPI_Group reversed(MPI_Group world, int from, int *ranks) {
    MPI_Group group;
    for (int i = 0; i < size - from; i++)
        ranks[i] = size - 1 - i;
    OK(MPI_Group_incl(world, size - from, ranks, &group));
    expect(group, world, ranks, size - from);
    return group;
}

static void check_sets(MPI_Group world) {
    MPI_Group back, result;
    int ranks[64], comparison, last = size - 1;
    back = reversed(world, 1, ranks);
    OK(MPI_Group_union(back, world, &result));
    int all[64];
    for (int i = 0; i < size - 1; i++)
        all[i] = size - 1 - i;
    all[size - 1] = 0;
    expect(result, world, all, size);
    OK(MPI_Group_compare(result, world, &comparison));
    EQUAL(comparison, size == 1 ? MPI_IDENT : MPI_SIMILAR);
    OK(MPI_Group_free(&result));
    OK(MPI_Group_intersection(back, world, &result));
    expect(result, world, ranks, size - 1);
    OK(MPI_Group_free(&result));
    OK(MPI_Group_difference(world, back, &result));
    expect(result, world, &(int){0}, 1);
    OK(MPI_Group_compare(result, back, &comparison));
    EQUAL(comparison, MPI_UNEQUAL);
    OK(MPI_Group_free(&result));
    OK(MPI_Group_excl(world, 1, &last, &result));
    OK(MPI_Group_rank(result, &comparison));
    EQUAL(comparison, rank == last ? MPI_UNDEFINED : rank);
    OK(MPI_Group_free(&result));
    OK(MPI_Group_free(&back));
}

int main(int argc, char **argv) {
    MPI_Group world, evens;
    int wrong[2] = {0, 0}, ranks[64], count = 0, range[1][3];
    begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    check_sets(world);
    range[0][0] = 0, range[0][1] = size - 1, range[0][2] = 2;
    OK(MPI_Group_range_incl(world, 1, range, &evens));
    for (int i = 0; i < size; i += 2)
        ranks[count++] = i;
    expect(evens, world, ranks, count);
    OK(MPI_Group_free(&evens));
    OK(MPI_Group_range_excl(world, 1, range, &evens));
    OK(MPI_Group_size(evens, &count));
    EQUAL(count, size / 2);
    if (count > 0)
        OK(MPI_Group_free(&evens));
    GIVES(MPI_ERR_RANK, MPI_Group_incl(world, 2, wrong, &evens));
    wrong[0] = size;
    GIVES(MPI_ERR_RANK, MPI_Group_incl(world, 1, wrong, &evens));
    OK(MPI_Group_translate_ranks(world, 1, &rank, MPI_GROUP_EMPTY, ranks));
    EQUAL(ranks[0], MPI_UNDEFINED);
    OK(MPI_Group_free(&world));
    CHECK(world == MPI_GROUP_NULL, "a freed group becomes null");
    return end();
}
