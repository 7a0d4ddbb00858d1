/* Reduce_scatter_block of counts from none to many, with and without MPI_IN_PLACE, in every lifetime: of numbers, and
   of elements with gaps by an operation that does not commute.
   MPI-5.0: Collective Communication, Reduce-Scatter with equal block size. */
#include "affine.h"
#include "lifetimes.h"

enum { LONGEST = 40009, MAPS = 701, MOST = 8 };

static double mine[LONGEST * MOST], result[LONGEST * MOST + 1];
static Affine maps[MAPS * MOST], composed[MAPS * MOST + 1];
static int count;

static double value(int r, int i, int round) {
    return (i + 3 * r + round) % 1000;
}

static void fill(int round) {
    for (int i = 0; i < size * count; i++) {
        mine[i] = value(rank, i, round);
        result[i] = -1;
    }
    result[size * count] = 12345;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(result, mine, sizeof *mine * (size_t)(size * count));
}

static void check_block(int round) {
    EQUAL(result[size * count], 12345);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, rank * count + i, round);
        EQUAL(result[i], sum);
    }
}

/* Only the block is written. */
static void check(int round) {
    check_block(round);
    for (int i = count; i < size * count; i++)
        EQUAL(result[i], -1);
}

static void fill_maps(int round) {
    for (int i = 0; i < size * count; i++) {
        maps[i] = map_of(rank, i, round);
        composed[i] = untouched;
    }
    composed[size * count] = identity;
}

static void fill_maps_in_place(int round) {
    fill_maps(round);
    memcpy(composed, maps, sizeof *maps * (size_t)(size * count));
}

static void check_map_block(int round) {
    same_map(composed[size * count], identity);
    for (int i = 0; i < count; i++)
        same_map(composed[i], maps_of(0, size - 1, rank * count + i, round));
}

static void check_maps(int round) {
    check_map_block(round);
    for (int i = count; i < size * count; i++)
        same_map(composed[i], untouched);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 2, 7, 100, 701, 8192, LONGEST};
    begin(&argc, &argv);
    make_affine();
    for (int k = 0; k < 8; k++) {
        count = counts[k];
        IN_EVERY_LIFETIME(fill, check, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, mine, result, count,
            MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_in_place, check_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
            MPI_IN_PLACE, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (count > MAPS)
            continue;
        IN_EVERY_LIFETIME(fill_maps, check_maps, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, maps, composed,
            count, affine_type, affine_op, MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_maps_in_place, check_map_block, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
            MPI_IN_PLACE, composed, count, affine_type, affine_op, MPI_COMM_WORLD);
    }
    free_affine();
    return end();
}
