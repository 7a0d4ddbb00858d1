/* Exscan, which leaves the result of rank 0 alone, of counts from none to many, with and without MPI_IN_PLACE, in every lifetime: of numbers, and of
   elements with gaps by an operation that does not commute. MPI-5.0: Collective Communication, Exclusive Scan. */
#include "affine.h"
#include "lifetimes.h"

enum { LONGEST = 80011, MAPS = 3001 };

static double mine[LONGEST], result[LONGEST + 1];
static Affine maps[MAPS], composed[MAPS + 1];
static int count;

static double value(int r, int i, int round) {
    return (i + 3 * r + round) % 1000;
}

static void fill(int round) {
    for (int i = 0; i < count; i++) {
        mine[i] = value(rank, i, round);
        result[i] = -1;
    }
    result[count] = 12345;
}

static void fill_in_place(int round) {
    fill(round);
    memcpy(result, mine, sizeof *mine * (size_t)count);
}

static void check_sums(int round, int kept) {
    EQUAL(result[count], 12345);
    for (int i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < rank; r++)
            sum += value(r, i, round);
        if (rank == 0)
            sum = kept ? value(0, i, round) : -1;
        EQUAL(result[i], sum);
    }
}

static void check(int round) { check_sums(round, 0); }
static void check_in_place(int round) { check_sums(round, 1); }

static void fill_maps(int round) {
    for (int i = 0; i < count; i++) {
        maps[i] = map_of(rank, i, round);
        composed[i] = untouched;
    }
    composed[count] = identity;
}

static void fill_maps_in_place(int round) {
    fill_maps(round);
    memcpy(composed, maps, sizeof *maps * (size_t)count);
}

static void check_compositions(int round, Affine of_first) {
    same_map(composed[count], identity);
    for (int i = 0; i < count; i++)
        same_map(composed[i], rank == 0 ? of_first : maps_of(0, rank - 1, i, round));
}

static void check_maps(int round) { check_compositions(round, untouched); }

static void check_maps_in_place(int round) {
    if (rank == 0)
        for (int i = 0; i < count; i++)
            same_map(composed[i], map_of(0, i, round));
    else
        check_compositions(round, identity);
}

/* The receive buffer of rank 0 is not significant. */
static void check_no_result(void) {
    mine[0] = rank;
    OK(MPI_Exscan(mine, rank == 0 ? NULL : result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    EQUAL(rank == 0 ? 0 : result[0], rank == 0 ? 0 : rank - 1);
}

int main(int argc, char **argv) {
    static const int counts[] = {0, 1, 2, 3, 7, 8, 100, 1009, 8192, LONGEST};
    begin(&argc, &argv);
    make_affine();
    for (int k = 0; k < 10; k++) {
        count = counts[k];
        IN_EVERY_LIFETIME(fill, check, MPI_Exscan, MPI_Iexscan, mine, result, count, MPI_DOUBLE, MPI_SUM,
            MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_in_place, check_in_place, MPI_Exscan, MPI_Iexscan, MPI_IN_PLACE, result, count,
            MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (count > MAPS)
            continue;
        IN_EVERY_LIFETIME(fill_maps, check_maps, MPI_Exscan, MPI_Iexscan, maps, composed, count, affine_type,
            affine_op, MPI_COMM_WORLD);
        IN_EVERY_LIFETIME(fill_maps_in_place, check_maps_in_place, MPI_Exscan, MPI_Iexscan, MPI_IN_PLACE, composed,
            count, affine_type, affine_op, MPI_COMM_WORLD);
    }
    check_no_result();
    free_affine();
    return end();
}
