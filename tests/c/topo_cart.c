/* Grids: places and coordinates, shifts over edges and around periods, places left over.
   MPI-5.0: Virtual Topologies, Cartesian Constructor; Cartesian Shift Coordinates. */
#include "check.h"

static void check_grid(MPI_Comm grid, const int *dims, const int *periods) {
    int found_dims[2], found_periods[2], coords[2], again[2], ndims, place, me;
    OK(MPI_Comm_rank(grid, &me));
    OK(MPI_Cartdim_get(grid, &ndims));
    EQUAL(ndims, 2);
    OK(MPI_Cart_get(grid, 2, found_dims, found_periods, coords));
    for (int i = 0; i < 2; i++) {
        EQUAL(found_dims[i], dims[i]);
        EQUAL(found_periods[i], !!periods[i]);
    }
    EQUAL(coords[0], me / dims[1]);
    EQUAL(coords[1], me % dims[1]);
    for (int other = 0; other < dims[0] * dims[1]; other++) {
        OK(MPI_Cart_coords(grid, other, 2, again));
        OK(MPI_Cart_rank(grid, again, &place));
        EQUAL(place, other);
    }
    coords[0] -= dims[0], coords[1] += 5 * dims[1];
    if (periods[0] && periods[1]) {
        OK(MPI_Cart_rank(grid, coords, &place));
        EQUAL(place, me);
    } else {
        GIVES(MPI_ERR_ARG, MPI_Cart_rank(grid, coords, &place));
    }
}

/* What arrives from the source of a shift was sent to its destination. */
static void check_shift(MPI_Comm grid, int direction, int disp, const int *dims, const int *periods) {
    int source, dest, me, got = -1, coords[2], expected;
    OK(MPI_Comm_rank(grid, &me));
    OK(MPI_Cart_shift(grid, direction, disp, &source, &dest));
    OK(MPI_Sendrecv(&me, 1, MPI_INT, dest, 7, &got, 1, MPI_INT, source, 7, grid, MPI_STATUS_IGNORE));
    EQUAL(got, source == MPI_PROC_NULL ? -1 : source);
    OK(MPI_Cart_coords(grid, me, 2, coords));
    coords[direction] += disp;
    int outside = coords[direction] < 0 || coords[direction] >= dims[direction];
    if (outside && !periods[direction]) {
        EQUAL(dest, MPI_PROC_NULL);
    } else {
        OK(MPI_Cart_rank(grid, coords, &expected));
        EQUAL(dest, expected);
    }
}

static void check_kind(const int *dims, const int *periods) {
    MPI_Comm grid;
    int places = dims[0] * dims[1], mapped, kind, members;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &mapped));
    EQUAL(mapped, rank < places ? rank : MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &grid));
    EQUAL(grid == MPI_COMM_NULL, rank >= places);
    if (grid == MPI_COMM_NULL)
        return;
    OK(MPI_Topo_test(grid, &kind));
    EQUAL(kind, MPI_CART);
    OK(MPI_Comm_size(grid, &members));
    EQUAL(members, places);
    check_grid(grid, dims, periods);
    for (int disp = -3; disp <= 3; disp++) {
        check_shift(grid, 0, disp, dims, periods);
        check_shift(grid, 1, disp, dims, periods);
    }
    OK(MPI_Comm_free(&grid));
}

/* A grid without dimensions has one place. */
static void check_point(void) {
    MPI_Comm point, part;
    int ndims = -1, place = -1, unchanged = 17;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &point));
    EQUAL(point == MPI_COMM_NULL, rank != 0);
    if (point == MPI_COMM_NULL)
        return;
    OK(MPI_Cartdim_get(point, &ndims));
    EQUAL(ndims, 0);
    OK(MPI_Cart_get(point, 0, NULL, NULL, NULL));
    OK(MPI_Cart_rank(point, NULL, &place));
    EQUAL(place, 0);
    OK(MPI_Cart_coords(point, 0, 1, &unchanged));
    EQUAL(unchanged, 17);
    GIVES(MPI_ERR_ARG, MPI_Cart_shift(point, 0, 1, &place, &place));
    OK(MPI_Cart_sub(point, NULL, &part));
    OK(MPI_Cartdim_get(part, &ndims));
    EQUAL(ndims, 0);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_free(&point));
}

/* A grid may be smaller than the group, as small as can be: then all are left over. */
static void check_nothing(void) {
    int dims[2] = {2, 0}, periods[2] = {0, 1}, place;
    MPI_Comm nothing;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place));
    EQUAL(place, MPI_UNDEFINED);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &nothing));
    CHECK(nothing == MPI_COMM_NULL, "nobody is in it");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int kind = 0; kind < 4; kind++) {
        int periods[2] = {kind & 1 ? -5 : 0, kind & 2}, whole[2] = {0, 0}, row[2] = {1, size};
        int part[2] = {(size + 1) / 2, 1};
        OK(MPI_Dims_create(size, 2, whole));
        check_kind(whole, periods);
        check_kind(row, periods);
        check_kind(part, periods);
    }
    check_point();
    check_nothing();
    return end();
}
