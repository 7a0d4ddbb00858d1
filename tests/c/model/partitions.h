/* Partitioned sends and receives of a case: drawn alike on all processes, made, started and marked by each as it likes.

   A send and its receive are a *pair*. Those of one envelope belong together in the order of the calls that make them,
   so these are made in the order of the plan, and all others in any. Nothing else of the case may meet them, though it
   has the same tags. What is right needs no record: each round of a pair has contents of its own, a partition
   gets them just before it is marked, and loses them when the send is complete; so what is sent too early or too late,
   or to another receive, is other data. MPI-5.0: Partitioned Point-to-Point Communication. */
#ifndef OXMPI_TESTS_MODEL_PARTITIONS_H
#define OXMPI_TESTS_MODEL_PARTITIONS_H

#include "receiving.h"

enum { MOST_PAIRS = 8, MOST_ROUNDS_OF_PAIR = 3, MOST_LISTED = 8, NOBODY = -2, SCRIBBLE = 0x99 };

/* A pair. `from` and `to` are processes; one of them may be nobody. An unused one is never started. */
typedef struct {
    int from, to, comm, tag, bytes, is_unused;
    int partitions[2];
} Pair;

/* What this process has of a pair. */
typedef struct {
    const Pair *pair;
    int is_receive, partitions, each;
    unsigned char *data;
    MPI_Request request;
    int is_active, rounds_begun;
    /* Of a send, the partitions that are marked. */
    int marked;
    unsigned char *is_marked;
} Side;

static Pair pairs[MOST_PAIRS];
static int pair_count;
/* How often each is started in a round of the case, and what it carries then. */
static int rounds_of_pair[MOST_PAIRS];
static uint64_t pair_keys[MOST_PAIRS][MOST_ROUNDS_OF_PAIR];
static Side sides[2 * MOST_PAIRS];
static int side_count;

static int draw_divisor(int number) {
    int divisor;
    do
        divisor = 1 + next(&dice, number);
    while (number % divisor != 0);
    return divisor;
}

static Pair draw_pair(void) {
    static const int units[] = {1, 2, 6, 12, 64, 100, 360, 1000};
    int number = units[next(&dice, 8)];
    Message like = draw_message(0);
    Pair it = {.from = like.from, .to = like.to, .comm = like.comm, .tag = like.tag};
    if (pair_count > 0 && next(&dice, 2)) {
        it = pairs[next(&dice, pair_count)];
    } else if (next(&dice, 8) == 0) {
        *(next(&dice, 2) ? &it.from : &it.to) = NOBODY;
    }
    it.bytes = number * next(&dice, draw_limit() / number + 1);
    it.partitions[0] = draw_divisor(number);
    it.partitions[1] = draw_divisor(number);
    it.is_unused = next(&dice, 8) == 0;
    return it;
}

static void draw_pairs(void) {
    int count = next(&dice, 2) ? next(&dice, MOST_PAIRS + 1) : 0;
    for (pair_count = 0; pair_count < count; pair_count++)
        pairs[pair_count] = draw_pair();
}

static void draw_rounds_of_pairs(void) {
    for (int p = 0; p < pair_count; p++) {
        rounds_of_pair[p] = pairs[p].is_unused ? 0 : next(&dice, MOST_ROUNDS_OF_PAIR + 1);
        for (int round = 0; round < MOST_ROUNDS_OF_PAIR; round++)
            pair_keys[p][round] = mix(dice.state + (uint64_t)(p * MOST_ROUNDS_OF_PAIR + round) + 1);
    }
}

static void make_side(Side *it) {
    const Pair *pair = it->pair;
    int other = it->is_receive ? pair->from : pair->to;
    int peer = other == NOBODY ? MPI_PROC_NULL : rank_of(pair->comm, other);
    MPI_Comm comm = comms[pair->comm].comm;
    it->partitions = pair->partitions[it->is_receive];
    it->each = pair->bytes / it->partitions;
    it->data = malloc((size_t)pair->bytes + 1);
    it->is_marked = calloc((size_t)it->partitions, 1);
    if (it->is_receive)
        OK(MPI_Precv_init(it->data, it->partitions, it->each, MPI_BYTE, peer, pair->tag, comm, MPI_INFO_NULL,
                          &it->request));
    else
        OK(MPI_Psend_init(it->data, it->partitions, it->each, MPI_BYTE, peer, pair->tag, comm, MPI_INFO_NULL,
                          &it->request));
}

static void free_side(Side *it) {
    OK(MPI_Request_free(&it->request));
    free(it->data);
    free(it->is_marked);
    it->data = NULL;
}

static int has_same_place(const Pair *a, const Pair *b) {
    return a->from == b->from && a->to == b->to && a->comm == b->comm && a->tag == b->tag;
}

/* Whether a side is made already, or has to be made after another one. */
static int has_to_wait(const Side *it) {
    for (const Side *other = sides; other < it; other++)
        if (other->data == NULL && other->is_receive == it->is_receive && has_same_place(other->pair, it->pair))
            return 1;
    return it->data != NULL;
}

static void make_sides(void) {
    side_count = 0;
    for (int p = 0; p < pair_count; p++)
        for (int is_receive = 0; is_receive < 2; is_receive++)
            /* Who sends to nobody, or receives from nobody, is alone in its pair. */
            if ((is_receive ? pairs[p].to : pairs[p].from) == rank)
                sides[side_count++] = (Side){.pair = &pairs[p], .is_receive = is_receive};
    for (int made = 0; made < side_count; made++) {
        Side *it;
        do
            it = &sides[next(&own_dice, side_count)];
        while (has_to_wait(it));
        make_side(it);
    }
    /* An unused one keeps its place, be it freed now, when another process has freed its other side, or at the end. */
    int kept = 0;
    for (int s = 0; s < side_count; s++)
        if (sides[s].pair->is_unused && next(&own_dice, 2))
            free_side(&sides[s]);
        else
            sides[kept++] = sides[s];
    side_count = kept;
}

static void free_sides(void) {
    for (int s = 0; s < side_count; s++)
        free_side(&sides[s]);
    side_count = 0;
}

static uint64_t key_of(const Side *it) {
    return pair_keys[it->pair - pairs][it->rounds_begun - 1];
}

static int may_begin(const Side *it) {
    return !it->is_active && it->rounds_begun < rounds_of_pair[it->pair - pairs];
}

static void begin_side(Side *it) {
    memset(it->data, it->is_receive ? UNTOUCHED : SCRIBBLE, (size_t)it->pair->bytes);
    memset(it->is_marked, 0, (size_t)it->partitions);
    it->marked = 0;
    it->rounds_begun++;
    it->is_active = 1;
    OK(MPI_Start(&it->request));
}

static void fill_partition(Side *it, int partition) {
    for (int i = partition * it->each; i < (partition + 1) * it->each; i++)
        it->data[i] = byte_of(key_of(it), i);
    it->is_marked[partition] = 1;
    it->marked++;
}

static int draw_unmarked(const Side *it) {
    int partition = next(&own_dice, it->partitions);
    while (it->is_marked[partition])
        partition = (partition + 1) % it->partitions;
    return partition;
}

/* Marks a partition, a range of them or a list, of those that are not. */
static void mark_some(Side *it) {
    int list[MOST_LISTED], count = 0, way = next(&own_dice, 3), last;
    if (way == 0) {
        list[0] = draw_unmarked(it);
        fill_partition(it, list[0]);
        OK(MPI_Pready(list[0], it->request));
    } else if (way == 1) {
        last = list[0] = draw_unmarked(it);
        fill_partition(it, last);
        while (last + 1 < it->partitions && !it->is_marked[last + 1] && next(&own_dice, 16))
            fill_partition(it, ++last);
        OK(MPI_Pready_range(list[0], last, it->request));
    } else {
        for (int most = 1 + next(&own_dice, MOST_LISTED); count < most && it->marked < it->partitions; count++) {
            list[count] = draw_unmarked(it);
            fill_partition(it, list[count]);
        }
        OK(MPI_Pready_list(count, list, it->request));
    }
}

static void check_partition(const Side *it, int partition) {
    for (int i = partition * it->each; i < (partition + 1) * it->each; i++)
        CHECK(it->data[i] == byte_of(key_of(it), i), "%s: pair %d, its round %d: byte %d of partition %d is other data",
              case_name, (int)(it->pair - pairs), it->rounds_begun, i, partition);
}

/* Asks for a partition, which has come if nothing is under way. */
static void ask_for_one(const Side *it) {
    int flag, partition = next(&own_dice, it->partitions);
    OK(MPI_Parrived(it->request, partition, &flag));
    CHECK(flag || it->is_active, "%s: a partition of an inactive receive has not arrived", case_name);
    if (flag && it->is_active && it->pair->from != NOBODY)
        check_partition(it, partition);
}

/* Judges what a call has completed. */
static void note_side_done(Side *it, const MPI_Status *status) {
    const Pair *pair = it->pair;
    it->is_active = 0;
    if (!it->is_receive) {
        CHECK(it->marked == it->partitions, "%s: a send is complete of which %d of %d partitions are marked", case_name,
              it->marked, it->partitions);
        memset(it->data, SCRIBBLE, (size_t)pair->bytes);
    } else if (pair->from == NOBODY) {
        check_status(status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_BYTE, 0);
    } else {
        check_status(status, rank_of(pair->comm, pair->from), pair->tag, MPI_BYTE, pair->bytes);
        for (int partition = 0; partition < it->partitions; partition++)
            check_partition(it, partition);
    }
}

static void test_side(Side *it) {
    MPI_Status status;
    int flag, done;
    switch (next(&own_dice, 3)) {
    case 0: OK(MPI_Test(&it->request, &flag, &status)); break;
    case 1: OK(MPI_Testsome(1, &it->request, &flag, &done, &status)); break;
    default:
        OK(MPI_Request_get_status(it->request, &flag, &status));
        if (flag)
            OK(MPI_Wait(&it->request, &status));
    }
    if (flag)
        note_side_done(it, &status);
}

/* Does one thing with one of them. */
static void move_some_side(void) {
    if (side_count == 0)
        return;
    Side *it = &sides[next(&own_dice, side_count)];
    if (may_begin(it))
        begin_side(it);
    else if (it->is_receive && next(&own_dice, 2))
        ask_for_one(it);
    else if (it->is_active && !it->is_receive && it->marked < it->partitions && next(&own_dice, 6))
        mark_some(it);
    else if (it->is_active)
        test_side(it);
}

/* Begins what can be, and marks all: how many are active, for which others need nothing of this process. */
static int release_sides(void) {
    int active = 0;
    for (int s = 0; s < side_count; s++) {
        Side *it = &sides[s];
        if (may_begin(it))
            begin_side(it);
        while (it->is_active && !it->is_receive && it->marked < it->partitions)
            mark_some(it);
        active += it->is_active;
    }
    return active;
}

/* Whether some are to be started again in this round. */
static int has_rounds_left(void) {
    for (int s = 0; s < side_count; s++)
        if (sides[s].rounds_begun < rounds_of_pair[sides[s].pair - pairs])
            return 1;
    return 0;
}

static void forget_rounds_of_pairs(void) {
    for (int s = 0; s < side_count; s++)
        sides[s].rounds_begun = 0;
}

#endif
