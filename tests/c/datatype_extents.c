/* Sizes and bounds of every kind of datatype in every width; what does not fit is MPI_UNDEFINED.
   MPI-5.0: Datatypes, Address and Size Functions, Lower-Bound and Upper-Bound Markers. */
#include "check.h"

typedef struct { MPI_Count size, lb, extent, true_lb, true_extent; } Bounds;

static int as_int(MPI_Count value) {
    return value > 2147483647 ? MPI_UNDEFINED : (int)value;
}

/* In every width. */
static void check_bounds(MPI_Datatype type, Bounds expected) {
    int size;
    MPI_Count first, second;
    MPI_Aint start, length;
    OK(MPI_Type_size(type, &size));
    EQUAL(size, as_int(expected.size));
    OK(MPI_Type_size_c(type, &first));
    EQUAL(first, expected.size);
    OK(MPI_Type_size_x(type, &second));
    EQUAL(second, expected.size);
    OK(MPI_Type_get_extent(type, &start, &length));
    EQUAL(start, expected.lb);
    EQUAL(length, expected.extent);
    OK(MPI_Type_get_extent_c(type, &first, &second));
    EQUAL(first, expected.lb);
    EQUAL(second, expected.extent);
    OK(MPI_Type_get_extent_x(type, &first, &second));
    EQUAL(first, expected.lb);
    EQUAL(second, expected.extent);
    OK(MPI_Type_get_true_extent(type, &start, &length));
    EQUAL(start, expected.true_lb);
    EQUAL(length, expected.true_extent);
    OK(MPI_Type_get_true_extent_c(type, &first, &second));
    EQUAL(first, expected.true_lb);
    EQUAL(second, expected.true_extent);
    OK(MPI_Type_get_true_extent_x(type, &first, &second));
    EQUAL(first, expected.true_lb);
    EQUAL(second, expected.true_extent);
}

static void check_and_free(MPI_Datatype type, Bounds expected) {
    check_bounds(type, expected);
    OK(MPI_Type_free(&type));
}

static void check_structs(void) {
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT}, made, inner;
    int lengths[] = {1, 1, 3}, none[] = {0, 0, 0};
    MPI_Aint places[] = {0, 8, 16}, backwards[] = {24, 8, -6};
    struct { char a; double b; short c[3]; } like_c;
    OK(MPI_Type_create_struct(3, lengths, places, types, &made));
    check_and_free(made, (Bounds){15, 0, sizeof like_c, 0, 22});
    OK(MPI_Type_create_struct(3, lengths, backwards, types, &made));
    check_and_free(made, (Bounds){15, -6, 32, -6, 31});
    OK(MPI_Type_create_struct(3, none, places, types, &made));
    check_and_free(made, (Bounds){0, 0, 0, 0, 0});
    OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &made));
    check_and_free(made, (Bounds){0, 0, 0, 0, 0});
    /* A resized member says where the whole begins and ends. */
    OK(MPI_Type_create_resized(MPI_INT, -16, 64, &inner));
    types[0] = inner;
    OK(MPI_Type_create_struct(3, lengths, places, types, &made));
    check_bounds(made, (Bounds){18, -16, 64, 0, 22});
    OK(MPI_Type_free(&made));
    OK(MPI_Type_free(&inner));
}

static void check_blocks(void) {
    MPI_Datatype made;
    int lengths[] = {2, 1, 3}, places[] = {5, -3, 8};
    MPI_Aint bytes[] = {40, -12, 100};
    OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &made));
    check_and_free(made, (Bounds){24, -12, 56, -12, 56});
    OK(MPI_Type_create_hindexed(3, lengths, bytes, MPI_INT, &made));
    check_and_free(made, (Bounds){24, -12, 124, -12, 124});
    OK(MPI_Type_create_indexed_block(3, 2, places, MPI_SHORT, &made));
    check_and_free(made, (Bounds){12, -6, 26, -6, 26});
    OK(MPI_Type_create_hindexed_block(3, 2, bytes, MPI_SHORT, &made));
    check_and_free(made, (Bounds){12, -12, 116, -12, 116});
    OK(MPI_Type_vector(3, 2, -4, MPI_INT, &made));
    check_and_free(made, (Bounds){24, -32, 40, -32, 40});
    OK(MPI_Type_create_hvector(0, 2, -4, MPI_INT, &made));
    check_and_free(made, (Bounds){0, 0, 0, 0, 0});
}

static void check_arrays(void) {
    MPI_Datatype made;
    int sizes[] = {6, 10}, parts[] = {2, 3}, starts[] = {1, 4}, grid[] = {2, 2};
    int cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, defaults[2];
    defaults[0] = defaults[1] = MPI_DISTRIBUTE_DFLT_DARG;
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made));
    check_and_free(made, (Bounds){24, 0, 240, 4 * 14, 4 * 13});
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made));
    check_and_free(made, (Bounds){24, 0, 240, 4 * 25, 4 * 14});
    /* Rank 3 has rows 1, 3, 5 and columns 5 to 9. */
    OK(MPI_Type_create_darray(4, 3, 2, sizes, cyclic, defaults, grid, MPI_ORDER_C, MPI_INT, &made));
    check_and_free(made, (Bounds){60, 0, 240, 4 * 15, 4 * 45});
}

static void check_large(void) {
    MPI_Datatype part, made;
    MPI_Count many = (MPI_Count)1 << 33;
    OK(MPI_Type_contiguous_c(many, MPI_INT, &part));
    check_bounds(part, (Bounds){4 * many, 0, 4 * many, 0, 4 * many});
    OK(MPI_Type_vector_c(2, 1, -3, part, &made));
    check_and_free(made, (Bounds){8 * many, -12 * many, 16 * many, -12 * many, 16 * many});
    OK(MPI_Type_create_resized_c(part, -many, 6 * many, &made));
    check_and_free(made, (Bounds){4 * many, -many, 6 * many, 0, 4 * many});
    GIVES(MPI_ERR_COUNT, MPI_Type_contiguous_c((MPI_Count)1 << 62, part, &made));
    OK(MPI_Type_free(&part));
    OK(MPI_Type_contiguous(536870912, MPI_INT, &made));
    check_and_free(made, (Bounds){2147483648, 0, 2147483648, 0, 2147483648});
}

static void check_predefined(void) {
    check_bounds(MPI_DOUBLE, (Bounds){8, 0, 8, 0, 8});
    check_bounds(MPI_DOUBLE_INT, (Bounds){12, 0, 16, 0, 12});
    check_bounds(MPI_SHORT_INT, (Bounds){6, 0, 8, 0, 8});
    check_bounds(MPI_CHAR, (Bounds){1, 0, 1, 0, 1});
}

static void check_refused(void) {
    MPI_Aint value;
    int size_found;
    GIVES(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &size_found));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_extent(MPI_DATATYPE_NULL, &value, &value));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_true_extent(MPI_DATATYPE_NULL, &value, &value));
    GIVES(MPI_ERR_ARG, MPI_Type_size(MPI_INT, NULL));
    GIVES(MPI_ERR_ARG, MPI_Type_get_extent(MPI_INT, NULL, &value));
    GIVES(MPI_ERR_ARG, MPI_Type_get_true_extent(MPI_INT, &value, NULL));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_structs();
    check_blocks();
    check_arrays();
    check_large();
    check_predefined();
    check_refused();
    return end();
}
