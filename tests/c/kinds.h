/* Datatypes of every kind with one signature, ELEMENTS integers, and where each places them. */
#ifndef OXMPI_TESTS_KINDS_H
#define OXMPI_TESTS_KINDS_H

#include "check.h"

/* ELEMENTS integers lie within AROUND integers of the origin on either side. */
enum { ELEMENTS = 24, AROUND = 160, KINDS = 16 };

typedef struct {
    const char *name;
    MPI_Datatype type;
    /* In integers: where the elements lie, and how far the next ELEMENTS are. */
    int map[ELEMENTS], extent;
} Kind;

static Kind kinds[KINDS];

static void make_vectors(Kind *kind) {
    kind[0].name = "contiguous";
    OK(MPI_Type_contiguous(ELEMENTS, MPI_INT, &kind[0].type));
    kind[1].name = "vector";
    OK(MPI_Type_vector(6, 4, 7, MPI_INT, &kind[1].type));
    kind[2].name = "hvector with a negative stride";
    OK(MPI_Type_create_hvector(8, 3, -5 * (MPI_Aint)sizeof(int), MPI_INT, &kind[2].type));
}

static void make_indexed(Kind *kind) {
    int lengths[] = {5, 0, 1, 10, 8}, places[] = {40, 3, 0, 20, 7}, starts[] = {18, 0, 30, 12};
    MPI_Aint addresses[] = {-9 * 4, 0, 44 * 4, 4 * 4, 22 * 4}, block_addresses[] = {60, -60, 180};
    kind[0].name = "indexed, backwards";
    OK(MPI_Type_indexed(5, lengths, places, MPI_INT, &kind[0].type));
    kind[1].name = "hindexed around its origin";
    OK(MPI_Type_create_hindexed(5, lengths, addresses, MPI_INT, &kind[1].type));
    kind[2].name = "indexed_block";
    OK(MPI_Type_create_indexed_block(4, 6, starts, MPI_INT, &kind[2].type));
    kind[3].name = "hindexed_block";
    OK(MPI_Type_create_hindexed_block(3, 8, block_addresses, MPI_INT, &kind[3].type));
}

static void make_struct(Kind *kind) {
    MPI_Datatype pairs, spaced, parts[3];
    int lengths[] = {4, 2, 3};
    MPI_Aint addresses[] = {0, 24 * 4, 10 * 4};
    OK(MPI_Type_vector(3, 2, 3, MPI_INT, &pairs));
    OK(MPI_Type_create_resized(MPI_INT, 0, 8, &spaced));
    parts[0] = MPI_INT, parts[1] = pairs, parts[2] = spaced;
    kind[0].name = "struct of a vector and a resized type";
    OK(MPI_Type_create_struct(3, lengths, addresses, parts, &kind[0].type));
    /* 4 + 2 * 6 + 3 integers so far. */
    lengths[0] = 1, lengths[1] = 5;
    addresses[0] = 4, addresses[1] = 60 * 4;
    parts[0] = kind[0].type, parts[1] = MPI_INT;
    OK(MPI_Type_create_struct(2, lengths, addresses, parts, &kind[0].type));
    OK(MPI_Type_free(&parts[0]));
    /* The bounds of the resized member would be those of the whole: elements would overlap. */
    parts[0] = kind[0].type;
    OK(MPI_Type_create_resized(parts[0], 0, 66 * 4, &kind[0].type));
    OK(MPI_Type_free(&parts[0]));
    OK(MPI_Type_free(&pairs));
    OK(MPI_Type_free(&spaced));
}

static void make_arrays(Kind *kind) {
    int sizes[] = {5, 4, 6}, parts[] = {2, 3, 4}, starts[] = {1, 0, 2};
    int whole[] = {12, 12}, block_cyclic[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[] = {2, 3};
    int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, none_block[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
    int defaults[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, row[] = {1, 6};
    kind[0].name = "subarray in the order of C";
    OK(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &kind[0].type));
    kind[1].name = "subarray in the order of Fortran";
    OK(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &kind[1].type));
    kind[2].name = "darray of blocks, cyclic";
    OK(MPI_Type_create_darray(6, 4, 2, whole, block_cyclic, arguments, grid, MPI_ORDER_C, MPI_INT, &kind[2].type));
    kind[3].name = "darray in the order of Fortran";
    OK(MPI_Type_create_darray(6, 2, 2, whole, none_block, defaults, row, MPI_ORDER_FORTRAN, MPI_INT, &kind[3].type));
}

static void make_others(Kind *kind) {
    MPI_Datatype inner;
    kind[0].name = "resized";
    OK(MPI_Type_create_resized(kinds[1].type, -8, 200, &kind[0].type));
    kind[1].name = "duplicate of an indexed type";
    OK(MPI_Type_dup(kinds[3].type, &kind[1].type));
    kind[2].name = "contiguous of overlapping extents";
    OK(MPI_Type_create_resized(MPI_INT, 0, 12, &inner));
    OK(MPI_Type_vector(2, 4, 13, inner, &kind[2].type));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_create_resized(kind[2].type, 0, 4, &inner));
    OK(MPI_Type_free(&kind[2].type));
    OK(MPI_Type_contiguous(3, inner, &kind[2].type));
    OK(MPI_Type_free(&inner));
    inner = kind[2].type;
    OK(MPI_Type_create_resized(inner, 0, 204, &kind[2].type));
    OK(MPI_Type_free(&inner));
    kind[3].name = "vector of subarrays";
    OK(MPI_Type_create_subarray(2, (int[]){4, 4}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_C, MPI_INT, &inner));
    OK(MPI_Type_vector(2, 2, 3, inner, &kind[3].type));
    OK(MPI_Type_free(&inner));
}

/* Packing integers that say where they are tells where the type looks for them. */
static void read_map(Kind *kind) {
    int where[2 * AROUND], position = 0, bytes;
    MPI_Aint lb, extent;
    OK(MPI_Type_commit(&kind->type));
    OK(MPI_Type_size(kind->type, &bytes));
    CHECK(bytes == ELEMENTS * sizeof(int), "%s: %d bytes", kind->name, bytes);
    OK(MPI_Type_get_extent(kind->type, &lb, &extent));
    kind->extent = (int)(extent / (MPI_Aint)sizeof(int));
    CHECK(extent == kind->extent * (MPI_Aint)sizeof(int), "%s has an extent of %ld", kind->name, (long)extent);
    for (int i = 0; i < 2 * AROUND; i++)
        where[i] = i - AROUND;
    OK(MPI_Pack(where + AROUND, 1, kind->type, kind->map, sizeof kind->map, &position, MPI_COMM_SELF));
    EQUAL(position, bytes);
}

static void make_kinds(void) {
    make_vectors(kinds);
    make_indexed(kinds + 3);
    make_struct(kinds + 7);
    make_arrays(kinds + 8);
    make_others(kinds + 12);
    for (int k = 0; k < KINDS; k++)
        read_map(&kinds[k]);
}

static void free_kinds(void) {
    for (int k = 0; k < KINDS; k++)
        OK(MPI_Type_free(&kinds[k].type));
}

#endif
