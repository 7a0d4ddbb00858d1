/* Elements of every kind, and datatypes of every form that place them: an element is one to four numbers, and a
   layout says where in memory those of its elements lie. */
#ifndef OXMPI_TESTS_MATRIX_ELEMENTS_H
#define OXMPI_TESTS_MATRIX_ELEMENTS_H

#include <stdint.h>

#include "../check.h"

/* The numbers that an element may have, the elements that a datatype may have. */
enum { NUMBERS = 4, ELEMENTS = 12 };

/* Types of numbers. All hold integers, also those of floating point. */
typedef enum { BYTE, SHORT, INTEGER, UNSIGNED, LONG, UNSIGNED_LONG, DOUBLE, TYPES } Type;

static const int bytes_of[TYPES] = {1, 2, 4, 4, 8, 8, 8};

/* An element's signature: what must be the same at the sender and at the receiver. */
typedef enum {
    BYTES, SHORTS, INTEGERS, UNSIGNEDS, LONGS, UNSIGNED_LONGS, DOUBLES,
    PAIRS, DOUBLE_PAIRS, MIXED, AFFINE, MATRICES, SIGNATURES
} Signature;

/* How elements of a signature may lie in memory. */
typedef struct {
    Signature signature;
    int numbers;
    Type types[NUMBERS];
    int offsets[NUMBERS], extent;
    /* The predefined datatype, if there is one. */
    MPI_Datatype predefined;
} Base;

static const Base bases[] = {
    {BYTES, 1, {BYTE}, {0}, 1, MPI_UNSIGNED_CHAR},
    {SHORTS, 1, {SHORT}, {0}, 2, MPI_SHORT},
    {INTEGERS, 1, {INTEGER}, {0}, 4, MPI_INT},
    {UNSIGNEDS, 1, {UNSIGNED}, {0}, 4, MPI_UNSIGNED},
    {LONGS, 1, {LONG}, {0}, 8, MPI_INT64_T},
    {UNSIGNED_LONGS, 1, {UNSIGNED_LONG}, {0}, 8, MPI_UINT64_T},
    {DOUBLES, 1, {DOUBLE}, {0}, 8, MPI_DOUBLE},
    {PAIRS, 2, {INTEGER, INTEGER}, {0, 4}, 8, MPI_2INT},
    {DOUBLE_PAIRS, 2, {DOUBLE, INTEGER}, {0, 8}, 16, MPI_DOUBLE_INT},
    {MIXED, 2, {INTEGER, DOUBLE}, {0, 8}, 16, MPI_DATATYPE_NULL},
    {MIXED, 2, {INTEGER, DOUBLE}, {12, 0}, 24, MPI_DATATYPE_NULL},
    {AFFINE, 2, {UNSIGNED, UNSIGNED}, {0, 4}, 8, MPI_DATATYPE_NULL},
    {AFFINE, 2, {UNSIGNED, UNSIGNED}, {8, 0}, 12, MPI_DATATYPE_NULL},
    {MATRICES, 4, {UNSIGNED, UNSIGNED, UNSIGNED, UNSIGNED}, {0, 4, 8, 12}, 16, MPI_DATATYPE_NULL},
};

enum { BASES = sizeof bases / sizeof *bases, FORMS = 12, LAYOUTS = BASES * FORMS };

/* A datatype and where it places the numbers of its elements. */
typedef struct {
    const Base *base;
    const char *form;
    MPI_Datatype type;
    int elements;
    MPI_Aint places[ELEMENTS * NUMBERS], extent, lowest, highest;
} Layout;

static Layout layouts[LAYOUTS];

/* Bytes of an element, packed. */
static int element_bytes(Signature signature) {
    const Base *base = bases;
    int bytes = 0;
    while (base->signature != signature)
        base++;
    for (int n = 0; n < base->numbers; n++)
        bytes += bytes_of[base->types[n]];
    return bytes;
}

static MPI_Datatype type_of(Type type) {
    const MPI_Datatype all[TYPES] = {MPI_UNSIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_UNSIGNED, MPI_INT64_T, MPI_UINT64_T,
        MPI_DOUBLE};
    return all[type];
}

/* What remains of an integer in a number of this type. */
static int64_t wrapped(Type type, uint64_t value) {
    switch (type) {
    case BYTE: return (uint8_t)value;
    case SHORT: return (int16_t)value;
    case INTEGER: return (int32_t)value;
    case UNSIGNED: return (uint32_t)value;
    default: return (int64_t)value;
    }
}

static void store(Type type, void *at, int64_t value) {
    double real = (double)value;
    /* The lowest bytes come first. */
    memcpy(at, type == DOUBLE ? (void *)&real : (void *)&value, bytes_of[type]);
}

static int64_t load(Type type, const void *at) {
    double real = 0;
    uint64_t value = 0;
    memcpy(type == DOUBLE ? (void *)&real : (void *)&value, at, bytes_of[type]);
    return type == DOUBLE ? (int64_t)real : wrapped(type, value);
}

/* Where number `n` of element `i` lies, of elements that begin at `origin`. */
static char *address(const Layout *layout, const char *origin, long i, int n) {
    long whole = i / layout->elements, part = i % layout->elements;
    return (char *)origin + whole * layout->extent + layout->places[part * layout->base->numbers + n];
}

static void store_element(const Layout *layout, char *origin, long i, const int64_t *element) {
    for (int n = 0; n < layout->base->numbers; n++)
        store(layout->base->types[n], address(layout, origin, i, n), element[n]);
}

static void load_element(const Layout *layout, const char *origin, long i, int64_t *element) {
    for (int n = 0; n < layout->base->numbers; n++)
        element[n] = load(layout->base->types[n], address(layout, origin, i, n));
}

/* The datatype of one element: where there is a predefined one that itself, for predefined operations take no other. */
static MPI_Datatype element_type(const Base *base) {
    MPI_Datatype whole, types[NUMBERS];
    MPI_Aint places[NUMBERS];
    int ones[NUMBERS] = {1, 1, 1, 1};
    if (base->predefined != MPI_DATATYPE_NULL)
        return base->predefined;
    for (int n = 0; n < base->numbers; n++)
        types[n] = type_of(base->types[n]), places[n] = base->offsets[n];
    OK(MPI_Type_create_struct(base->numbers, ones, places, types, &whole));
    types[0] = whole;
    OK(MPI_Type_create_resized(types[0], 0, base->extent, &whole));
    OK(MPI_Type_free(&types[0]));
    return whole;
}

/* Elements at these places and with this extent, in extents of one. */
static void define(Layout *layout, const char *form, int elements, const int *places, int extent) {
    const Base *base = layout->base;
    MPI_Aint lb, found;
    layout->form = form, layout->elements = elements;
    layout->extent = (MPI_Aint)extent * base->extent;
    for (int i = 0; i < elements * base->numbers; i++) {
        int n = i % base->numbers;
        MPI_Aint place = (MPI_Aint)places[i / base->numbers] * base->extent + base->offsets[n];
        layout->places[i] = place;
        if (i == 0 || place < layout->lowest)
            layout->lowest = place;
        if (i == 0 || place + bytes_of[base->types[n]] > layout->highest)
            layout->highest = place + bytes_of[base->types[n]];
    }
    if (layout->type != base->predefined)
        OK(MPI_Type_commit(&layout->type));
    OK(MPI_Type_get_extent(layout->type, &lb, &found));
    EQUAL(found, layout->extent);
}

#define PLACES(...) sizeof((int[]){__VA_ARGS__}) / sizeof(int), (int[]){__VA_ARGS__}

static void make_forms(const Base *base, Layout *it) {
    MPI_Datatype one = element_type(base), inner;
    MPI_Aint extent = base->extent, blocks[] = {4 * extent, 0}, members[] = {4 * extent, extent, 8 * extent};
    for (int form = 0; form < FORMS; form++)
        it[form].base = base;
    it[0].type = one;
    define(&it[0], "one", PLACES(0), 1);
    OK(MPI_Type_contiguous(4, one, &it[1].type));
    define(&it[1], "contiguous", PLACES(0, 1, 2, 3), 4);
    OK(MPI_Type_vector(2, 3, 5, one, &it[2].type));
    define(&it[2], "vector", PLACES(0, 1, 2, 5, 6, 7), 8);
    OK(MPI_Type_create_hvector(3, 1, -2 * extent, one, &it[3].type));
    define(&it[3], "hvector, backwards", PLACES(0, -2, -4), 5);
    OK(MPI_Type_indexed(4, (int[]){2, 0, 1, 3}, (int[]){6, 9, 0, 2}, one, &it[4].type));
    define(&it[4], "indexed", PLACES(6, 7, 0, 2, 3, 4), 8);
    OK(MPI_Type_create_resized(one, -extent, 3 * extent, &it[5].type));
    define(&it[5], "resized", PLACES(0), 3);
    OK(MPI_Type_create_indexed_block(2, 1, (int[]){3, 0}, one, &it[6].type));
    define(&it[6], "indexed_block", PLACES(3, 0), 4);
    OK(MPI_Type_create_hindexed_block(2, 2, blocks, one, &it[7].type));
    define(&it[7], "hindexed_block", PLACES(4, 5, 0, 1), 6);
    OK(MPI_Type_create_struct(3, (int[]){2, 1, 3}, members, (MPI_Datatype[]){one, one, one}, &it[8].type));
    define(&it[8], "struct", PLACES(4, 5, 1, 8, 9, 10), 10);
    OK(MPI_Type_create_subarray(2, (int[]){3, 4}, (int[]){2, 2}, (int[]){1, 1}, MPI_ORDER_C, one, &it[9].type));
    define(&it[9], "subarray", PLACES(5, 6, 9, 10), 12);
    OK(MPI_Type_vector(2, 3, 5, one, &inner));
    OK(MPI_Type_contiguous(2, inner, &it[10].type));
    define(&it[10], "contiguous of vectors", PLACES(0, 1, 2, 5, 6, 7, 8, 9, 10, 13, 14, 15), 16);
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_create_resized(one, -extent, 3 * extent, &inner));
    OK(MPI_Type_vector(2, 1, 2, inner, &it[11].type));
    define(&it[11], "vector of resized", PLACES(0, 6), 9);
    OK(MPI_Type_free(&inner));
}

static void make_layouts(void) {
    for (int base = 0; base < BASES; base++)
        make_forms(&bases[base], &layouts[base * FORMS]);
}

static void free_layouts(void) {
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].type != layouts[i].base->predefined)
            OK(MPI_Type_free(&layouts[i].type));
}

/* The layout of a datatype that a program's operation is called with. */
static const Layout *layout_of(MPI_Datatype type) {
    for (int i = 0; i < LAYOUTS; i++)
        if (layouts[i].type == type)
            return &layouts[i];
    CHECK(0, "an operation was called with an unknown datatype");
    return NULL;
}

#endif
