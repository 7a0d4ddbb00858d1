/* Reduce_scatter of equal, uneven and empty blocks, with and without MPI_IN_PLACE, in every lifetime and width: of
   numbers, and of elements with gaps by an operation that does not commute.
   MPI-5.0: Collective Communication, Reduce-Scatter. */
#include "affine.h"
#include "lifetimes.h"

enum { ALL = 400000, MAPS = 3000, MOST = 8 };

static double mine[ALL], result[ALL + 1];
static Affine maps[MAPS], composed[MAPS + 1];
static int counts[MOST], count, total, place;
static MPI_Count large_counts[MOST];

/* Layouts: nothing, one element each, many each, growing, all for the last rank, all for the first, the first ones
   short and the others long. */
enum { LAYOUTS = 8 };

static void lay_out(int layout) {
    total = place = 0;
    for (int r = 0; r < size; r++) {
        int blocks[LAYOUTS] = {0, 1, 250, 37 * r, r == size - 1 ? 1000 : 0, r == 0 ? 1000 : 0, r == 0 ? 1 : 300,
                               7000 * r + 50 * (r == 0) - r % 3};
        counts[r] = blocks[layout];
        large_counts[r] = counts[r];
        place += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    count = counts[rank];
}

static double value(int r, int i, int round) {
    return (i + 3 * r + round) % 1000;
}

static void fill(int round) {
    for (int i = 0; i < total; i++) {
        mine[i] = value(rank, i, round);
        result[i] = -1;
    }
    result[total] = 12345;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(result, mine, sizeof *mine * (size_t)total);
}

static void check_block(int round) {
    EQUAL(result[total], 12345);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < size; r++)
            sum += value(r, place + i, round);
        EQUAL(result[i], sum);
    }
}

/* Only the block is written. */
static void check(int round) {
    check_block(round);
    for (int i = count; i < total; i++)
        EQUAL(result[i], -1);
}

static void fill_maps(int round) {
    for (int i = 0; i < total; i++) {
        maps[i] = map_of(rank, i, round);
        composed[i] = untouched;
    }
    composed[total] = identity;
}

static void fill_maps_in_place(int round) {
    fill_maps(round);
    memcpy(composed, maps, sizeof *maps * (size_t)total);
}

static void check_map_block(int round) {
    same_map(composed[total], identity);
    for (int i = 0; i < count; i++)
        same_map(composed[i], maps_of(0, size - 1, place + i, round));
}

static void check_maps(int round) {
    check_map_block(round);
    for (int i = count; i < total; i++)
        same_map(composed[i], untouched);
}

#define IN_BOTH_WIDTHS(prepare, verify, from, into, type, op)                                          \
    do {                                                                                            \
        IN_THREE_LIFETIMES(prepare, verify, MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from, \
            into, counts, type, op, MPI_COMM_WORLD);                                                \
        IN_THREE_LIFETIMES(prepare, verify, MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c, MPI_Reduce_scatter_init_c, \
            from, into, large_counts, type, op, MPI_COMM_WORLD);                                    \
    } while (0)

/* An array of counts may change when the call that made a persistent request has returned. */
static void check_captured(void) {
    MPI_Request request;
    lay_out(3);
    OK(MPI_Reduce_scatter_init(mine, result, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    memset(counts, 0, sizeof counts);
    fill(1);
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(1);
    OK(MPI_Request_free(&request));
}

static void check_errors(void) {
    lay_out(1);
    counts[size - 1] = -1;
    GIVES(MPI_ERR_COUNT, MPI_Reduce_scatter(mine, result, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    large_counts[size - 1] = INT64_MAX;
    GIVES(MPI_ERR_COUNT, MPI_Reduce_scatter_c(mine, result, large_counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    GIVES(MPI_ERR_ARG, MPI_Reduce_scatter(mine, result, NULL, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    lay_out(2);
    GIVES(MPI_ERR_BUFFER, MPI_Reduce_scatter(mine, mine, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_affine();
    for (int layout = 0; layout < LAYOUTS; layout++) {
        lay_out(layout);
        IN_BOTH_WIDTHS(fill, check, mine, result, MPI_DOUBLE, MPI_SUM);
        IN_BOTH_WIDTHS(fill_in_place, check_block, MPI_IN_PLACE, result, MPI_DOUBLE, MPI_SUM);
        if (total > MAPS)
            continue;
        IN_BOTH_WIDTHS(fill_maps, check_maps, maps, composed, affine_type, affine_op);
        IN_BOTH_WIDTHS(fill_maps_in_place, check_map_block, MPI_IN_PLACE, composed, affine_type, affine_op);
    }
    check_captured();
    check_errors();
    free_affine();
    return end();
}
