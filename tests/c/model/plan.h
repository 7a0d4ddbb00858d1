/* What is sent in a round, drawn alike on all processes: by whom, to whom, where, how, in which order. */
#ifndef OXMPI_TESTS_MODEL_PLAN_H
#define OXMPI_TESTS_MODEL_PLAN_H

#include <stdint.h>

#include "../jobs.h"
#include "../random.h"

enum { MOST_RANKS = 8, COMMS = 4, MOST_MESSAGES = 48, SEND_SLOTS = 8, MOST_TURNS = 6, MOST_BYTES = 300000, TAGS = 4 };

/* Any source, or any tag. Both are negative in MPI, and not the same. */
enum { ANY = -1 };

typedef enum { STANDARD, SYNCHRONOUS, BUFFERED, READY, EXCHANGE } Mode;

/* Where messages go, with what each process is there. */
typedef struct {
    const char *name;
    MPI_Comm comm;
    int group[MOST_RANKS], rank[MOST_RANKS];
} Comm;

/* One message of a round; `slot` is that of a persistent send, or -1. `from` and `to` are processes. */
typedef struct {
    int from, to, comm, tag, bytes, slot, may_be_cancelled;
    Mode mode;
    uint64_t key;
} Message;

static Comm comms[COMMS];
static int comm_count;
/* For what the test itself has to tell. */
static MPI_Comm aside;

/* Those of the round; what a process sends on a communicator to another, it sends in this order. */
static Message messages[MOST_MESSAGES];
static int message_count, longest;
/* Persistent sends of the case: their messages, but for the key. */
static Message slots[SEND_SLOTS];
static int slot_count;
/* Blocking calls that pairs of processes make, one pair after the other. */
static Message turns[MOST_TURNS];
static int turn_count;

/* Drawn alike on all processes, and differently on each. */
static Random dice, own_dice;

/* Spreads a number over 64 bits. */
static uint64_t mix(uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

static int tag_of(int number) {
    static int *tag_ub, found;
    if (number < TAGS - 1)
        return number;
    if (!found)
        OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &found));
    return *tag_ub;
}

static void add_comm(const char *name, MPI_Comm comm, int group) {
    Comm *it = &comms[comm_count++];
    int mine[2] = {group}, all[2 * MOST_RANKS];
    OK(MPI_Comm_rank(comm, &mine[1]));
    OK(MPI_Allgather(mine, 2, MPI_INT, all, 2, MPI_INT, everybody));
    it->name = name;
    it->comm = comm;
    for (int r = 0; r < size; r++)
        it->group[r] = all[2 * r], it->rank[r] = all[2 * r + 1];
}

/* Two within all, and one between two groups, the last but one; the last is for the blocking calls. */
static void make_comms(uint64_t seed) {
    Random random = {mix(seed)};
    MPI_Comm made, local;
    comm_count = 0;
    OK(MPI_Comm_dup(everybody, &made));
    add_comm("a duplicate", made, 0);
    OK(MPI_Comm_split(everybody, 0, next(&random, 2) ? -rank : rank * 7 % 5, &made));
    add_comm("all in another order", made, 0);
    if (size > 1) {
        int first = 1 + next(&random, size - 1), group = rank >= first;
        OK(MPI_Comm_split(everybody, group, rank, &local));
        OK(MPI_Intercomm_create(local, 0, everybody, group ? 0 : first, 5, &made));
        OK(MPI_Comm_free(&local));
        add_comm("two groups", made, group);
    }
    OK(MPI_Comm_dup(everybody, &made));
    add_comm("one for turns", made, 0);
    OK(MPI_Comm_dup(everybody, &aside));
}

static void free_comms(void) {
    while (comm_count > 0)
        OK(MPI_Comm_free(&comms[--comm_count].comm));
    OK(MPI_Comm_free(&aside));
}

/* Around the limits of what goes in a cell of a ring, in its bulk, in a larger ring, and by announcement. */
static int draw_bytes(int limit) {
    static const int edges[] = {0, 1, 8, 80, 81, 1000, 4096, 8192, 16384, 16385, 32768, 65536, 65537, 131072, 262145};
    int bytes = next(&dice, 3) == 0 ? next(&dice, limit + 1) : edges[next(&dice, 15)] + next(&dice, 3) - 1;
    return bytes < 0 ? 0 : bytes > limit ? next(&dice, 9) : bytes;
}

static Message draw_message(int limit) {
    Message it = {.comm = next(&dice, comm_count - 1), .tag = tag_of(next(&dice, TAGS)), .slot = -1};
    const Comm *comm = &comms[it.comm];
    do {
        it.from = next(&dice, size);
        it.to = next(&dice, size);
    } while (comm_count == COMMS && it.comm == COMMS - 2 && comm->group[it.from] == comm->group[it.to]);
    it.bytes = draw_bytes(limit);
    it.mode = (Mode)(next(&dice, 4) % 3);
    if (it.bytes > 20000 && it.mode == BUFFERED)
        it.mode = STANDARD;
    it.may_be_cancelled = it.mode != BUFFERED && next(&dice, 12) == 0;
    return it;
}

static int draw_limit(void) {
    int kind = next(&dice, 20);
    return kind < 14 ? 200 : kind < 19 ? 5000 : MOST_BYTES;
}

static void draw_slots(void) {
    slot_count = next(&dice, SEND_SLOTS + 1);
    for (int s = 0; s < slot_count; s++) {
        slots[s] = draw_message(draw_limit());
        slots[s].slot = s;
        slots[s].may_be_cancelled = 0;
    }
}

static void draw_turns(void) {
    turn_count = size > 1 ? next(&dice, MOST_TURNS + 1) : 0;
    for (int t = 0; t < turn_count; t++) {
        Message *it = &turns[t];
        *it = draw_message(draw_limit());
        it->comm = comm_count - 1;
        it->to = (it->from + 1 + next(&dice, size - 1)) % size;
        it->mode = (Mode)next(&dice, 5);
        if (it->bytes > 20000 && it->mode == BUFFERED)
            it->mode = READY;
        it->key = mix(dice.state);
    }
}

static void draw_round(void) {
    int limit = draw_limit(), started[SEND_SLOTS] = {0};
    message_count = next(&dice, next(&dice, 3) ? 12 : MOST_MESSAGES);
    longest = 0;
    for (int m = 0; m < message_count; m++) {
        int slot = next(&dice, 2 * SEND_SLOTS);
        if (slot < slot_count && !started[slot]) {
            messages[m] = slots[slot];
            started[slot] = 1;
        } else {
            messages[m] = draw_message(limit);
        }
        messages[m].key = mix(dice.state + (uint64_t)m);
        if (messages[m].bytes > longest)
            longest = messages[m].bytes;
    }
    draw_turns();
}

static unsigned char byte_of(uint64_t key, int index) {
    return (unsigned char)(key + (unsigned)index * 31u + ((unsigned)index >> 8) * 7u);
}

static void fill(const Message *it, unsigned char *data) {
    for (int i = 0; i < it->bytes; i++)
        data[i] = byte_of(it->key, i);
}

/* Whether a receive that asks for this would take a message. */
static int matches(int comm, int source, int tag, const Message *it) {
    return it->comm == comm && (source == ANY || source == it->from) && (tag == ANY || tag == it->tag);
}

#endif
