/* Arguments that are significant only at the root are ignored elsewhere, whatever they are; so is what belongs to
   MPI_IN_PLACE. MPI-5.0: Collective Communication, Introduction, Gather, Scatter, Reduce. */
#include "lifetimes.h"

enum { COUNT = 300, MOST = 8, ALL = COUNT * MOST };

static int mine[COUNT], all[ALL], root, is_root;
static int counts[MOST], places[MOST];

static void fill(int round) {
    for (int i = 0; i < COUNT; i++)
        mine[i] = 1000 * rank + i + round;
    for (int i = 0; i < ALL; i++)
        all[i] = is_root ? 1000 * (i / COUNT) + i % COUNT + round : -1;
}

static void gathered(int round) {
    for (int i = 0; i < COUNT * size; i++)
        EQUAL(all[i], is_root ? 1000 * (i / COUNT) + i % COUNT + round : -1);
}

static void fill_to_scatter(int round) {
    fill(round);
    for (int i = 0; i < COUNT; i++)
        mine[i] = is_root ? mine[i] : -1;
}

static void scattered(int round) {
    for (int i = 0; i < COUNT; i++)
        EQUAL(mine[i], 1000 * rank + i + round);
}

static void fill_to_reduce(int round) {
    fill(round);
    for (int i = 0; i < COUNT && is_root; i++)
        all[i] = mine[i];
}

static void reduced(int round) {
    for (int i = 0; i < COUNT && is_root; i++)
        EQUAL(all[i], size * (i + round) + 1000 * size * (size - 1) / 2);
}

/* What counts at the root is nonsense elsewhere. */
static void nonsense_elsewhere(void) {
    void *there = is_root ? all : NULL;
    int count = is_root ? COUNT : -7, *lengths = is_root ? counts : NULL, *starts = is_root ? places : NULL;
    MPI_Datatype type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
    IN_THREE_LIFETIMES(fill, gathered, MPI_Gather, MPI_Igather, MPI_Gather_init, mine, COUNT, MPI_INT, there, count,
                       type, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, gathered, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, mine, COUNT, MPI_INT, there,
                       lengths, starts, type, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_to_scatter, scattered, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, there, count, type,
                       mine, COUNT, MPI_INT, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_to_scatter, scattered, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, there, lengths,
                       starts, type, mine, COUNT, MPI_INT, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, reduced, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, mine, there, COUNT, MPI_INT,
                       MPI_SUM, root, MPI_COMM_WORLD);
}

/* Count and datatype that belong to MPI_IN_PLACE are nonsense. */
static void nonsense_in_place(void) {
    void *from = is_root ? MPI_IN_PLACE : mine;
    int count = is_root ? -7 : COUNT;
    MPI_Datatype type = is_root ? MPI_DATATYPE_NULL : MPI_INT;
    IN_THREE_LIFETIMES(fill, gathered, MPI_Gather, MPI_Igather, MPI_Gather_init, from, count, type, all, COUNT,
                       MPI_INT, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, gathered, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, from, count, type, all, counts,
                       places, MPI_INT, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_to_scatter, scattered, MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, all, COUNT, MPI_INT,
                       from, count, type, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_to_scatter, scattered, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, all, counts,
                       places, MPI_INT, from, count, type, root, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill_to_reduce, reduced, MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, from, all, COUNT, MPI_INT,
                       MPI_SUM, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int r = 0; r < size; r++)
        counts[r] = COUNT, places[r] = r * COUNT;
    for (root = 0; root < size; root += size > 4 ? size - 1 : 1) {
        is_root = rank == root;
        nonsense_elsewhere();
        nonsense_in_place();
    }
    return end();
}
