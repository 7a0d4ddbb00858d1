/* How a process receives: by all ways, each noted for the judge. */
#ifndef OXMPI_TESTS_MODEL_RECEIVING_H
#define OXMPI_TESTS_MODEL_RECEIVING_H

#include "judge.h"

enum { RECEIVE_SLOTS = 5 };

static int capacities[MOST_RECEIVES];
/* What this process has seen and done in the round. */
static int now;

/* Persistent receives of the case. */
typedef struct { int comm, source, tag, in_use; unsigned char *data; MPI_Request request; } ReceiveSlot;

static ReceiveSlot receive_slots[RECEIVE_SLOTS];

static int is_inter(int comm) {
    return comm_count == COMMS && comm == COMMS - 2;
}

/* The rank by which this process sends to another, or receives from it. */
static int rank_of(int comm, int process) {
    return process == ANY ? MPI_ANY_SOURCE : comms[comm].rank[process];
}

static int process_of(int comm, int source) {
    const Comm *it = &comms[comm];
    for (int process = 0; process < size; process++)
        if (it->rank[process] == source && (!is_inter(comm) || it->group[process] != it->group[rank]))
            return process;
    CHECK(0, "a message came from %d on %s", source, it->name);
    return ANY;
}

static int mpi_tag(int tag) {
    return tag == ANY ? MPI_ANY_TAG : tag;
}

/* What it asks for, mostly such that a message of the round matches. */
static Receive draw_receive(void) {
    Receive it = {.request = MPI_REQUEST_NULL, .cancelled_at = -1};
    int mine[MOST_MESSAGES], count = 0;
    for (int m = 0; m < message_count; m++)
        if (messages[m].to == rank)
            mine[count++] = m;
    if (count > 0 && next(&own_dice, 12) > 0) {
        const Message *meant = &messages[mine[next(&own_dice, count)]];
        it.comm = meant->comm, it.source = meant->from, it.tag = meant->tag;
    } else {
        it.comm = next(&own_dice, comm_count - 1);
        it.tag = tag_of(next(&own_dice, TAGS));
        do
            it.source = next(&own_dice, size);
        while (is_inter(it.comm) && comms[it.comm].group[it.source] == comms[it.comm].group[rank]);
    }
    if (next(&own_dice, 3) == 0)
        it.source = ANY;
    if (next(&own_dice, 3) == 0)
        it.tag = ANY;
    return it;
}

static Receive *post(Receive it, unsigned char *data, int capacity) {
    CHECK(receive_count < MOST_RECEIVES, "a round has too many receives");
    it.data = data;
    if (data != NULL)
        memset(data, UNTOUCHED, (size_t)capacity);
    capacities[receive_count] = capacity;
    receives[receive_count] = it;
    return &receives[receive_count++];
}

/* A buffer that is somewhat longer than any message. */
static Receive *post_new(Receive it) {
    int capacity = longest + next(&own_dice, 20);
    unsigned char *data = malloc((size_t)capacity + 1);
    CHECK(data, "memory");
    return post(it, data, capacity);
}

static void note_found(Receive *it, const MPI_Status *status) {
    it->seen_at = ++now;
    it->found_from = process_of(it->comm, status->MPI_SOURCE);
    it->found_tag = status->MPI_TAG;
    OK(MPI_Get_count(status, MPI_BYTE, &it->found_bytes));
}

static void note_done(Receive *it, const MPI_Status *status) {
    it->is_done = 1;
    OK(MPI_Test_cancelled(status, &it->is_cancelled));
    if (it->is_cancelled)
        CHECK(it->cancelled_at >= 0, "a receive was cancelled that nobody cancelled");
    else
        note_found(it, status);
}

static void begin_receive(void) {
    Receive it = draw_receive();
    ReceiveSlot *slot = &receive_slots[next(&own_dice, RECEIVE_SLOTS)];
    if (next(&own_dice, 3) == 0 && slot->data != NULL && !slot->in_use) {
        it.comm = slot->comm, it.source = slot->source, it.tag = slot->tag;
        it.request = slot->request;
        slot->in_use = 1;
        Receive *posted = post(it, slot->data, MOST_BYTES);
        if (next(&own_dice, 2))
            OK(MPI_Start(&posted->request));
        else
            OK(MPI_Startall(1, &posted->request));
        return;
    }
    Receive *posted = post_new(it);
    OK(MPI_Irecv(posted->data, capacities[receive_count - 1], MPI_BYTE, rank_of(it.comm, it.source), mpi_tag(it.tag),
                 comms[it.comm].comm, &posted->request));
}

/* Receives what was taken, in a buffer that just holds it. */
static void receive_taken(Receive it, MPI_Message taken, const MPI_Status *found) {
    int bytes;
    OK(MPI_Get_count(found, MPI_BYTE, &bytes));
    Receive *posted = post(it, malloc((size_t)bytes + 1), bytes);
    if (next(&own_dice, 2)) {
        MPI_Status status;
        OK(MPI_Mrecv(posted->data, bytes, MPI_BYTE, &taken, &status));
        note_done(posted, &status);
        return;
    }
    OK(MPI_Imrecv(posted->data, bytes, MPI_BYTE, &taken, &posted->request));
    CHECK(taken == MPI_MESSAGE_NULL, "the handle of a taken message stays");
}

static void take_if_any(void) {
    Receive it = draw_receive();
    MPI_Message taken;
    MPI_Status status;
    int flag;
    OK(MPI_Improbe(rank_of(it.comm, it.source), mpi_tag(it.tag), comms[it.comm].comm, &flag, &taken, &status));
    if (flag)
        receive_taken(it, taken, &status);
}

/* Whether a message that a probe has found could still be cancelled. */
static int may_vanish(const Receive *found) {
    for (int m = 0; m < message_count; m++)
        if (messages[m].may_be_cancelled && messages[m].to == rank
            && matches(found->comm, found->found_from, found->found_tag, &messages[m]))
            return 1;
    return 0;
}

/* What is found can be received, by whom it is from and its tag. */
static void probe_if_any(void) {
    Receive it = draw_receive();
    MPI_Status status;
    int flag;
    OK(MPI_Iprobe(rank_of(it.comm, it.source), mpi_tag(it.tag), comms[it.comm].comm, &flag, &status));
    if (!flag)
        return;
    it.kind = PROBE;
    note_found(&it, &status);
    post(it, NULL, 0);
    if (may_vanish(&it) || next(&own_dice, 2))
        return;
    it.kind = RECEIVE;
    it.source = it.found_from;
    it.tag = it.found_tag;
    Receive *posted = post_new(it);
    OK(MPI_Recv(posted->data, capacities[receive_count - 1], MPI_BYTE, rank_of(it.comm, it.source), it.tag,
                comms[it.comm].comm, &status));
    note_done(posted, &status);
}

static int list_pending(int *which, MPI_Request *requests) {
    int count = 0;
    for (int r = 0; r < receive_count; r++)
        if (receives[r].kind == RECEIVE && !receives[r].is_done) {
            which[count] = r;
            requests[count++] = receives[r].request;
        }
    return count;
}

/* Completes some of the pending receives by one of the functions for several, or of those for one. `waits` if all
   will end. */
static void complete_some(int waits) {
    static MPI_Request requests[MOST_RECEIVES];
    static MPI_Status statuses[MOST_RECEIVES];
    static int which[MOST_RECEIVES], done[MOST_RECEIVES];
    int count = list_pending(which, requests), found = 0, flag = 1;
    if (count == 0)
        return;
    int one = next(&own_dice, count), way = waits ? next(&own_dice, 4) : 4 + next(&own_dice, 5);
    done[0] = one;
    switch (way) {
    case 0: OK(MPI_Wait(&requests[one], &statuses[0])); found = 1; break;
    case 1: OK(MPI_Waitany(count, requests, done, statuses)); found = 1; break;
    case 2: OK(MPI_Waitsome(count, requests, &found, done, statuses)); break;
    case 3: OK(MPI_Waitall(count, requests, statuses)); found = count; break;
    case 4: OK(MPI_Test(&requests[one], &flag, &statuses[0])); found = flag; break;
    case 5: OK(MPI_Testany(count, requests, done, &flag, statuses)); found = flag; break;
    case 6: OK(MPI_Testsome(count, requests, &found, done, statuses)); break;
    case 7: OK(MPI_Testall(count, requests, &flag, statuses)); found = flag ? count : 0; break;
    default: OK(MPI_Request_get_status(requests[one], &flag, &statuses[0]));
    }
    CHECK(found != MPI_UNDEFINED, "%d receives are active", count);
    for (int i = 0; i < found; i++) {
        int place = way == 3 || way == 7 ? i : done[i];
        receives[which[place]].request = requests[place];
        note_done(&receives[which[place]], &statuses[i]);
    }
}

static void cancel_one(void) {
    static MPI_Request requests[MOST_RECEIVES];
    static int which[MOST_RECEIVES];
    int count = list_pending(which, requests);
    if (count == 0)
        return;
    Receive *it = &receives[which[next(&own_dice, count)]];
    if (it->cancelled_at >= 0)
        return;
    it->cancelled_at = ++now;
    OK(MPI_Cancel(&it->request));
    if (next(&own_dice, 2)) {
        MPI_Status status;
        OK(MPI_Wait(&it->request, &status));
        note_done(it, &status);
    }
}

/* Cancels what is pending: it ends by that, or by a message. */
static void end_pending(void) {
    for (int r = 0; r < receive_count; r++)
        if (receives[r].kind == RECEIVE && !receives[r].is_done && receives[r].cancelled_at < 0) {
            receives[r].cancelled_at = ++now;
            OK(MPI_Cancel(&receives[r].request));
            if (next(&own_dice, 3) == 0)
                complete_some(0);
        }
    int which[MOST_RECEIVES];
    MPI_Request requests[MOST_RECEIVES];
    while (list_pending(which, requests) > 0)
        complete_some(1);
}

/* Receives a message that nothing else can receive any more, and that is there or on its way. */
static void receive_left(int m) {
    Receive it = {.request = MPI_REQUEST_NULL, .cancelled_at = -1, .comm = messages[m].comm};
    MPI_Comm comm = comms[it.comm].comm;
    MPI_Message taken;
    MPI_Status status;
    it.source = next(&own_dice, 2) ? ANY : messages[m].from;
    it.tag = next(&own_dice, 2) ? ANY : messages[m].tag;
    int source = rank_of(it.comm, it.source), tag = mpi_tag(it.tag), way = next(&own_dice, 4);
    if (way == 0) {
        OK(MPI_Mprobe(source, tag, comm, &taken, &status));
        receive_taken(it, taken, &status);
    } else if (way == 1) {
        Receive found = it;
        OK(MPI_Probe(source, tag, comm, &status));
        found.kind = PROBE;
        note_found(&found, &status);
        post(found, NULL, 0);
        it.source = found.found_from, it.tag = found.found_tag;
        Receive *posted = post_new(it);
        OK(MPI_Recv(posted->data, capacities[receive_count - 1], MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
                    &status));
        note_done(posted, &status);
    } else {
        Receive *posted = post_new(it);
        OK(MPI_Irecv(posted->data, capacities[receive_count - 1], MPI_BYTE, source, tag, comm, &posted->request));
    }
    while (way != 1 && !receives[receive_count - 1].is_done)
        complete_some(1);
}

static void receive_all_left(void) {
    for (;;) {
        int left = 0, lefts[MOST_MESSAGES];
        assign();
        for (int m = 0; m < message_count; m++)
            if (messages[m].to == rank && !is_withdrawn[m] && taken_by[m] == NOT_TAKEN)
                lefts[left++] = m;
        if (left == 0)
            return;
        receive_left(lefts[next(&own_dice, left)]);
    }
}

static void make_receive_slots(void) {
    for (int s = 0; s < RECEIVE_SLOTS; s++) {
        ReceiveSlot *slot = &receive_slots[s];
        Receive drawn = draw_receive();
        slot->comm = drawn.comm, slot->source = drawn.source, slot->tag = drawn.tag;
        slot->data = malloc(MOST_BYTES);
        OK(MPI_Recv_init(slot->data, MOST_BYTES, MPI_BYTE, rank_of(slot->comm, slot->source), mpi_tag(slot->tag),
                         comms[slot->comm].comm, &slot->request));
    }
}

static void free_receive_slots(void) {
    for (int s = 0; s < RECEIVE_SLOTS; s++) {
        OK(MPI_Request_free(&receive_slots[s].request));
        free(receive_slots[s].data);
        receive_slots[s].data = NULL;
    }
}

/* After a round: persistent receives can be started again. */
static void forget_receives(void) {
    for (int r = 0; r < receive_count; r++)
        if (receives[r].request == MPI_REQUEST_NULL && receives[r].kind == RECEIVE)
            free(receives[r].data);
    for (int s = 0; s < RECEIVE_SLOTS; s++)
        receive_slots[s].in_use = 0;
    receive_count = now = 0;
}

#endif
