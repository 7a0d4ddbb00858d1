/* Buffers of blocks of elements, with bytes around and between them that nobody may touch. */
#ifndef OXMPI_TESTS_MATRIX_BUFFERS_H
#define OXMPI_TESTS_MATRIX_BUFFERS_H

#include "comms.h"
#include "elements.h"

enum { GUARD = 64, ALIGNMENT = 16 };

/* Consecutive elements, from `first` on, of what members `member` to `end` - 1 of a group send as their
   `stream`-th block, combined in this order. Of no member: elements that stay as they are. */
typedef struct {
    int group, member, end, stream;
    long first, elements;
} Block;

/* Numbers of an array in each type that a function may want. */
typedef struct {
    const int *ints;
    const MPI_Aint *aints;
    const MPI_Count *counts;
} Numbers;

typedef struct {
    int ints[MOST_NEIGHBORS];
    MPI_Aint aints[MOST_NEIGHBORS];
    MPI_Count counts[MOST_NEIGHBORS];
} Storage;

/* One block, equal ones one after the other, blocks with counts and displacements, and with types as well. */
typedef enum { NONE, ONE, EQUAL_ONES, VECTOR, EACH } Style;

/* What a rank sends, or what it gets. */
typedef struct {
    Style style;
    int blocks;
    /* What the blocks hold before the operation, and after it. */
    Block before[MOST_NEIGHBORS], after[MOST_NEIGHBORS];
    const Layout *layout[MOST_NEIGHBORS];
    MPI_Datatype types[MOST_NEIGHBORS];
    MPI_Aint places[MOST_NEIGHBORS];
    Storage counts, displs;
    char *memory, *origin;
    MPI_Aint bytes;
    /* Whether the program passes no address, since there is nothing at it. */
    int is_nowhere;
} Side;

static char *address_of(const Side *side) {
    return side->is_nowhere ? NULL : side->origin;
}

static Numbers numbers(const Storage *storage) {
    return (Numbers){storage->ints, storage->aints, storage->counts};
}

static void set_number(Storage *storage, int i, long number) {
    storage->ints[i] = (int)number;
    storage->aints[i] = number;
    storage->counts[i] = number;
}

/* Datatypes of block `n` that need room. */
static long room_of(const Side *side, int n) {
    long before = side->before[n].elements, after = side->after[n].elements;
    return (before > after ? before : after) / side->layout[n]->elements;
}

/* Blocks with displacements lie in any order, with gaps. */
static void place_blocks(Side *side, Random *dice) {
    int order[MOST_NEIGHBORS];
    MPI_Aint cursor = 0;
    shuffle(dice, order, side->blocks);
    for (int i = 0; i < side->blocks; i++) {
        int n = side->style >= VECTOR ? order[i] : i;
        const Layout *layout = side->layout[n];
        long room = room_of(side, n);
        if (side->style == EACH) {
            side->places[n] = (cursor - layout->lowest + ALIGNMENT - 1) & -(MPI_Aint)ALIGNMENT;
            set_number(&side->displs, n, side->places[n]);
            if (room > 0)
                cursor = side->places[n] + (room - 1) * layout->extent + layout->highest;
            continue;
        }
        side->places[n] = cursor * layout->extent;
        set_number(&side->displs, n, cursor);
        cursor += room + (side->style == VECTOR ? next(dice, 3) : 0);
    }
}

/* Whether the memory is that of MPI_Alloc_mem. */
static int is_allocated;

static void *take_memory(MPI_Aint bytes) {
    void *memory = NULL;
    if (is_allocated)
        OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
    else
        memory = malloc((size_t)bytes);
    CHECK(memory != NULL, "%ld bytes", (long)bytes);
    return memory;
}

static void give_memory(void *memory) {
    if (!is_allocated)
        free(memory);
    else if (memory)
        OK(MPI_Free_mem(memory));
}

static void allocate(Side *side) {
    MPI_Aint lowest = 0, highest = 0;
    for (int n = 0; n < side->blocks; n++) {
        const Layout *layout = side->layout[n];
        MPI_Aint low = side->places[n] + layout->lowest;
        MPI_Aint high = side->places[n] + (room_of(side, n) - 1) * layout->extent + layout->highest;
        if (room_of(side, n) > 0) {
            lowest = low < lowest ? low : lowest;
            highest = high > highest ? high : highest;
        }
    }
    MPI_Aint origin = (GUARD - lowest + ALIGNMENT - 1) & -(MPI_Aint)ALIGNMENT;
    side->bytes = origin + highest + GUARD;
    side->memory = take_memory(side->bytes);
    side->origin = side->memory + origin;
}

/* Needs the blocks and their layouts. */
static void lay_out(Side *side, Random *dice) {
    for (int n = 0; n < MOST_NEIGHBORS; n++) {
        side->types[n] = side->layout[n]->type;
        set_number(&side->counts, n, n < side->blocks ? side->after[n].elements / side->layout[n]->elements : 0);
    }
    place_blocks(side, dice);
    allocate(side);
    side->is_nowhere = next(dice, 2);
    for (int n = 0; n < side->blocks; n++)
        side->is_nowhere &= room_of(side, n) == 0;
}

#endif
