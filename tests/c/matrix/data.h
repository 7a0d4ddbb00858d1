/* What is in the buffers before an operation and after it, computed from the seed alone. */
#ifndef OXMPI_TESTS_MATRIX_DATA_H
#define OXMPI_TESTS_MATRIX_DATA_H

#include "operation.h"

/* Says which case this is. */
static void describe_case(void);

static How how_of(const Operation *it) {
    return it->reduction != NULL ? it->reduction->how : NOTHING;
}

static uint64_t stream_key(const Operation *it, int round, const Block *block, int member) {
    uint64_t place = (((uint64_t)round * 2 + block->group) * 64 + member) * 64 + block->stream;
    return mix(it->key + mix(place));
}

static void draw_element(const Operation *it, const Base *base, uint64_t key, long i, int64_t *element) {
    for (int n = 0; n < base->numbers; n++)
        element[n] = operand(how_of(it), base->types[n], n, mix(key + (uint64_t)i * NUMBERS + n));
}

/* Puts into block `n` of a buffer like the side's what `block` says. */
static void paint(const Operation *it, const Side *side, int n, const Block *block, int round, char *origin) {
    const Layout *layout = side->layout[n];
    uint64_t keys[MOST_RANKS];
    for (int member = block->member; member < block->end; member++)
        keys[member] = stream_key(it, round, block, member);
    for (long i = 0; block->member < block->end && i < block->elements; i++) {
        int64_t elements[2][NUMBERS];
        draw_element(it, layout->base, keys[block->member], block->first + i, elements[0]);
        int last = 0;
        for (int member = block->member + 1; member < block->end; member++) {
            draw_element(it, layout->base, keys[member], block->first + i, elements[!last]);
            combine(how_of(it), layout->base->types, elements[last], elements[!last]);
            last = !last;
        }
        store_element(layout, origin + side->places[n], i, elements[last]);
    }
}

/* A byte that nobody writes. */
static int pattern(int round) {
    return 0xa5 + round;
}

static void fill(const Operation *it, Side *side, int round) {
    memset(side->memory, pattern(round), (size_t)side->bytes);
    for (int n = 0; n < side->blocks; n++)
        paint(it, side, n, &side->before[n], round, side->origin);
}

static void describe(const Operation *it) {
    const Comm *comm = it->comm;
    fprintf(stderr, "  %s on %s: rank %d of %d", it->cell->name, comm->name, comm->me, comm->sizes[comm->group]);
    if (comm->kind == INTER)
        fprintf(stderr, " facing %d", comm->sizes[!comm->group]);
    fprintf(stderr, "; root %d of group %d; signature %d, counts of %d times up to %d, %d rounds%s; %s", it->root,
            it->root_group, it->signature, it->unit, it->longest, it->rounds, it->in_place ? ", in place" : "",
            it->reduction != NULL ? it->reduction->name : "nothing reduced");
    const Side *sides[] = {&it->send, &it->recv};
    for (int side = 0; side < 2; side++) {
        fprintf(stderr, "\n    %s", side == 0 ? "sends" : "receives");
        for (int n = 0; n < sides[side]->blocks; n++)
            fprintf(stderr, " %d x %s at %ld,", sides[side]->counts.ints[n], sides[side]->layout[n]->form,
                    (long)sides[side]->places[n]);
    }
    fputc('\n', stderr);
}

/* Ends the job: the buffer is not what it should be. */
static void complain(const Operation *it, const Side *side, const char *image, int round) {
    MPI_Aint at = 0, origin = side->origin - side->memory;
    while (image[at] == side->memory[at])
        at++;
    describe_case();
    describe(it);
    CHECK(0, "round %d: byte %ld of the %s buffer is %d, not %d", round, (long)(at - origin),
          side == &it->send ? "send" : "receive", (unsigned char)side->memory[at], (unsigned char)image[at]);
}

/* What the operation left, guards and gaps included. */
static void verify(const Operation *it, const Side *side, int round) {
    char *image = malloc((size_t)side->bytes), *origin = image + (side->origin - side->memory);
    memset(image, pattern(round), (size_t)side->bytes);
    for (int n = 0; n < side->blocks; n++) {
        const Block *before = &side->before[n], *after = &side->after[n];
        int64_t element[NUMBERS];
        if (before->elements != after->elements || after->member == after->end)
            paint(it, side, n, before, round, origin);
        paint(it, side, n, after, round, origin);
        /* Nothing is said of the rest of a vector whose place was taken by a part of the result. */
        for (long i = after->elements; i < before->elements; i++) {
            load_element(side->layout[n], side->origin + side->places[n], i, element);
            store_element(side->layout[n], origin + side->places[n], i, element);
        }
    }
    if (memcmp(image, side->memory, (size_t)side->bytes) != 0)
        complain(it, side, image, round);
    free(image);
}

#endif
