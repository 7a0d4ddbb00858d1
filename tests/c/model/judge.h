/* The reference: which message each receive may have taken.

   What a process receives on a communicator is a list of receives, in the order in which they were posted; a matched
   probe is one that is posted when it takes its message. What each other process sends it there is a list of messages.
   MPI-5.0: Semantics of Point-to-Point Communication, Order, demands that

   - of the messages of one sender that match a receive, it takes the first that no receive before it has taken;
   - of the receives that match a message, the first takes it that is still pending.

   Between senders there is a choice, which depends on time: of it this only knows what this process has seen and done
   in its own order. */
#ifndef OXMPI_TESTS_MODEL_JUDGE_H
#define OXMPI_TESTS_MODEL_JUDGE_H

#include "plan.h"

enum { MOST_RECEIVES = 160, NOT_TAKEN = -1, UNTOUCHED = 0xee };

typedef enum { RECEIVE, PROBE } Kind;

/* A receive, or what a probe has found. The index is the place in the order of posting. */
typedef struct {
    Kind kind;
    int comm, source, tag;
    unsigned char *data;
    MPI_Request request;
    int is_done, is_cancelled;
    /* When this process has seen that it is complete, and when it has asked for its cancellation. */
    int seen_at, cancelled_at;
    int found_from, found_tag, found_bytes;
    /* The message that it has taken. */
    int message;
} Receive;

static Receive receives[MOST_RECEIVES];
static int receive_count;
/* By message: the receive that has taken it, and whether it was cancelled. */
static int taken_by[MOST_MESSAGES], is_withdrawn[MOST_MESSAGES];

static char case_name[128];

/* Says what happened in the round, and ends the job. */
static void wrong(const char *what, int which) {
    fprintf(stderr, "%s\n", case_name);
    fprintf(stderr, "rank %d: %s: receive %d\n", rank, what, which);
    for (int m = 0; m < message_count; m++)
        if (messages[m].to == rank)
            fprintf(stderr, "  message %d: from %d on %s, tag %d, %d bytes, mode %d, slot %d%s, taken by %d\n", m,
                    messages[m].from, comms[messages[m].comm].name, messages[m].tag, messages[m].bytes,
                    messages[m].mode, messages[m].slot, is_withdrawn[m] ? ", cancelled" : "", taken_by[m]);
    for (int r = 0; r < receive_count; r++) {
        const Receive *it = &receives[r];
        fprintf(stderr, "  %s %d: from %d, tag %d on %s: %s message %d (from %d, tag %d, %d bytes), seen at %d, cancelled at %d\n",
                it->kind == PROBE ? "probe" : "receive", r, it->source, it->tag, comms[it->comm].name,
                it->is_cancelled ? "cancelled," : it->is_done ? "done," : "pending,", it->message, it->found_from,
                it->found_tag, it->found_bytes, it->seen_at, it->cancelled_at);
    }
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int is_for(const Receive *it, int m) {
    return messages[m].to == rank && matches(it->comm, it->source, it->tag, &messages[m]);
}

/* Which messages have been taken by which receives: those of one sender, communicator and tag are taken in order. */
static void assign(void) {
    for (int m = 0; m < message_count; m++)
        taken_by[m] = NOT_TAKEN;
    for (int r = 0; r < receive_count; r++) {
        Receive *it = &receives[r];
        it->message = NOT_TAKEN;
        if (it->kind == PROBE || !it->is_done || it->is_cancelled)
            continue;
        for (int m = 0; m < message_count && it->message == NOT_TAKEN; m++)
            if (messages[m].to == rank && !is_withdrawn[m] && taken_by[m] == NOT_TAKEN
                && matches(it->comm, it->found_from, it->found_tag, &messages[m]))
                it->message = m, taken_by[m] = r;
        if (it->message == NOT_TAKEN)
            wrong("it has taken what nobody sent", r);
        if (!is_for(it, it->message))
            wrong("it has taken what does not match", r);
    }
}

static void judge_data(int r, int capacity) {
    const Receive *it = &receives[r];
    const Message *sent = &messages[it->message];
    if (it->is_cancelled) {
        for (int i = 0; i < capacity; i++)
            if (it->data[i] != UNTOUCHED)
                wrong("it was cancelled, and its buffer has changed", r);
        return;
    }
    if (it->found_bytes != sent->bytes)
        wrong("its status has another length than the message", r);
    for (int i = 0; i < sent->bytes; i++)
        if (it->data[i] != byte_of(sent->key, i))
            wrong("its data is not what was sent", r);
    for (int i = sent->bytes; i < capacity; i++)
        if (it->data[i] != UNTOUCHED)
            wrong("its buffer has changed behind the message", r);
}

/* The first rule, and what is known of the second. */
static void judge_order(int r) {
    const Receive *it = &receives[r];
    for (int m = 0; m < it->message; m++)
        if (messages[m].from == messages[it->message].from && !is_withdrawn[m] && is_for(it, m) && taken_by[m] > r)
            wrong("it has overtaken an earlier message of its sender", r);
    for (int other = 0; other < r; other++)
        if (receives[other].kind == RECEIVE && receives[other].is_cancelled && is_for(&receives[other], it->message)
            && it->seen_at < receives[other].cancelled_at)
            wrong("it has taken what an earlier receive was waiting for", r);
}

/* A probe finds the first message of some sender that no receive posted before has taken; or one that is cancelled
   later. */
static void judge_probe(int r) {
    const Receive *it = &receives[r];
    for (int m = 0; m < message_count; m++) {
        int is_free = is_withdrawn[m] || taken_by[m] > r;
        if (messages[m].from != it->found_from || !is_for(it, m) || !is_free)
            continue;
        if (messages[m].tag == it->found_tag && messages[m].bytes == it->found_bytes)
            return;
        if (!is_withdrawn[m])
            break;
    }
    wrong("it has found what is not the first", r);
}

/* What happened in the round, when all is over. */
static void judge(const int *capacities) {
    assign();
    for (int m = 0; m < message_count; m++)
        if (messages[m].to == rank && !is_withdrawn[m] && taken_by[m] == NOT_TAKEN)
            wrong("a message was lost", m);
    for (int r = 0; r < receive_count; r++) {
        if (receives[r].kind == PROBE) {
            judge_probe(r);
            continue;
        }
        if (!receives[r].is_done)
            wrong("it is not complete", r);
        judge_data(r, capacities[r]);
        if (!receives[r].is_cancelled)
            judge_order(r);
    }
}

#endif
