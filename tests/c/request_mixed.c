/* Every completion call over requests of every kind at once, null and inactive ones among them; ranks complete the
   same operations by different calls and in different orders, and each is reported once.
   MPI-5.0: Point-to-Point Communication, Communication Completion, Multiple Completions; Collective Communication,
   Nonblocking and Persistent Collective Operations. */
#include "random.h"
#include "sorts.h"

enum {
    COLLECTIVE, DUPLICATION, GENERALIZED, INACTIVE_COLLECTIVE, INACTIVE_RECEIVE, NULL_REQUEST, PERSISTENT_COLLECTIVE,
    PERSISTENT_RECEIVE, PERSISTENT_SEND, RECEIVE, SEND, SEND_RECEIVE, SYNCHRONOUS_SEND, WILDCARD, KINDS
};
enum { WAIT, TEST, WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, STATUS, STATUS_ALL, STATUS_ANY, STATUS_SOME,
       WAYS };
enum { COUNT = 3 * KINDS };

/* Operation `index` of the list, which stands at another place of the arrays on each rank. */
typedef struct {
    int kind, sent, got, seen;
    Collective it;
    MPI_Comm copy;
} Item;

static Item items[COUNT];
static MPI_Request requests[COUNT];
static int item_at[COUNT];
static int right, left, turn;
static MPI_Comm ring;

static int query(void *state, MPI_Status *status) {
    *(int *)state += 1;
    status->MPI_SOURCE = 3, status->MPI_TAG = 4;
    OK(MPI_Status_set_elements(status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int release(void *state) { (void)state; return MPI_SUCCESS; }
static int cancel(void *state, int complete) { (void)state; (void)complete; return MPI_SUCCESS; }

static void post_message(Item *item, int tag, MPI_Request *request) {
    MPI_Comm world = MPI_COMM_WORLD;
    switch (item->kind) {
    case RECEIVE:
        OK(MPI_Irecv(&item->got, 1, MPI_INT, left, tag, world, request));
        break;
    case WILDCARD:
        OK(MPI_Irecv(&item->got, 1, MPI_INT, MPI_ANY_SOURCE, tag, world, request));
        break;
    case INACTIVE_RECEIVE:
    case PERSISTENT_RECEIVE:
        OK(MPI_Recv_init(&item->got, 1, MPI_INT, left, tag, world, request));
        break;
    case SEND:
        OK(MPI_Isend(&item->sent, 1, MPI_INT, right, tag, world, request));
        break;
    case SYNCHRONOUS_SEND:
        OK(MPI_Issend(&item->sent, 1, MPI_INT, right, tag, world, request));
        break;
    case PERSISTENT_SEND:
        OK(MPI_Send_init(&item->sent, 1, MPI_INT, right, tag, world, request));
        break;
    default:
        OK(MPI_Isendrecv(&item->sent, 1, MPI_INT, right, tag, &item->got, 1, MPI_INT, left, tag, world, request));
    }
}

static int is_collective(int kind) {
    return kind == COLLECTIVE || kind == INACTIVE_COLLECTIVE || kind == PERSISTENT_COLLECTIVE;
}

/* Each kind of send is received by another kind of receive. */
static void post(int index, MPI_Request *request) {
    static const int tags[KINDS] = {[SEND] = 1, [PERSISTENT_RECEIVE] = 1, [PERSISTENT_SEND] = 2, [RECEIVE] = 2,
        [SYNCHRONOUS_SEND] = 3, [WILDCARD] = 3, [SEND_RECEIVE] = 4, [INACTIVE_RECEIVE] = 5};
    int copy = index / KINDS;
    Item *item = &items[index];
    *item = (Item){.kind = index % KINDS, .sent = 100 * rank + turn, .got = -1, .copy = MPI_COMM_NULL};
    *request = MPI_REQUEST_NULL;
    if (is_collective(item->kind)) {
        item->it = collective(ring, (index + turn) % SORTS, 1 + 300 * copy, turn % size);
        fill(&item->it, turn);
        call(&item->it, item->kind == COLLECTIVE ? NONBLOCKING : PERSISTENT, request);
    } else if (item->kind == DUPLICATION) {
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &item->copy, request));
    } else if (item->kind == GENERALIZED) {
        OK(MPI_Grequest_start(query, release, cancel, &item->got, request));
        OK(MPI_Grequest_complete(*request));
    } else if (item->kind != NULL_REQUEST) {
        post_message(item, 10 * copy + tags[item->kind], request);
    }
}

static int is_persistent(int kind) {
    return kind == PERSISTENT_COLLECTIVE || kind == PERSISTENT_RECEIVE || kind == PERSISTENT_SEND;
}

static int is_active(int kind) {
    return kind != NULL_REQUEST && kind != INACTIVE_COLLECTIVE && kind != INACTIVE_RECEIVE;
}

/* Called in one order, as collectives are; listed, and started, in another on each rank. */
static void post_all(Random *random) {
    static MPI_Request in_order[COUNT];
    for (int k = 0; k < COUNT; k++)
        item_at[k] = k;
    for (int k = COUNT - 1; k > 0; k--) {
        int other = next(random, k + 1), swapped = item_at[k];
        item_at[k] = item_at[other];
        item_at[other] = swapped;
    }
    for (int index = 0; index < COUNT; index++)
        post(index, &in_order[index]);
    for (int k = 0; k < COUNT; k++) {
        requests[k] = in_order[item_at[k]];
        if (is_persistent(items[item_at[k]].kind))
            OK(MPI_Start(&requests[k]));
    }
}

static int is_receive(int kind) {
    return kind == RECEIVE || kind == PERSISTENT_RECEIVE || kind == SEND_RECEIVE || kind == WILDCARD;
}

static void report(int place, const MPI_Status *status) {
    CHECK(place >= 0 && place < COUNT, "place %d", place);
    Item *item = &items[item_at[place]];
    EQUAL(item->seen++, 0);
    if (!is_active(item->kind))
        check_empty(status);
    else if (item->kind == GENERALIZED)
        check_status(status, 3, 4, MPI_INT, 5);
    else if (is_receive(item->kind)) {
        check_status(status, left, status->MPI_TAG, MPI_INT, 1);
        EQUAL(item->got, 100 * left + turn);
    } else if (is_collective(item->kind)) {
        verify(&item->it, turn);
    }
}

/* The calls that complete one. */
static void complete_single(int way) {
    MPI_Status status;
    for (int place = 0; place < COUNT; place++) {
        int done = way == WAIT;
        if (way == WAIT)
            OK(MPI_Wait(&requests[place], &status));
        while (!done)
            if (way == TEST)
                OK(MPI_Test(&requests[place], &done, &status));
            else
                OK(MPI_Request_get_status(requests[place], &done, &status));
        report(place, &status);
        if (way == STATUS)
            OK(MPI_Wait(&requests[place], MPI_STATUS_IGNORE));
    }
}

/* Those that complete all, or tell whether all are complete. */
static void complete_all(int way) {
    static MPI_Status statuses[COUNT];
    int done = way == WAITALL;
    if (way == WAITALL)
        OK(MPI_Waitall(COUNT, requests, statuses));
    while (!done)
        if (way == TESTALL)
            OK(MPI_Testall(COUNT, requests, &done, statuses));
        else
            OK(MPI_Request_get_status_all(COUNT, requests, &done, statuses));
    for (int place = 0; place < COUNT; place++)
        report(place, &statuses[place]);
    if (way == STATUS_ALL)
        OK(MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE));
}

static void complete_any(int way) {
    MPI_Status status;
    for (;;) {
        int place, done = 1;
        if (way == WAITANY)
            OK(MPI_Waitany(COUNT, requests, &place, &status));
        else if (way == TESTANY)
            OK(MPI_Testany(COUNT, requests, &place, &done, &status));
        else
            OK(MPI_Request_get_status_any(COUNT, requests, &place, &done, &status));
        if (!done)
            continue;
        if (place == MPI_UNDEFINED)
            return check_empty(&status);
        report(place, &status);
        if (way == STATUS_ANY)
            OK(MPI_Wait(&requests[place], MPI_STATUS_IGNORE));
    }
}

static void complete_some(int way) {
    static MPI_Status statuses[COUNT];
    int places[COUNT], found = 0;
    for (;;) {
        if (way == WAITSOME)
            OK(MPI_Waitsome(COUNT, requests, &found, places, statuses));
        else if (way == TESTSOME)
            OK(MPI_Testsome(COUNT, requests, &found, places, statuses));
        else
            OK(MPI_Request_get_status_some(COUNT, requests, &found, places, statuses));
        if (found == MPI_UNDEFINED)
            return;
        for (int k = 0; k < found; k++) {
            report(places[k], &statuses[k]);
            if (way == STATUS_SOME)
                OK(MPI_Wait(&requests[places[k]], MPI_STATUS_IGNORE));
        }
    }
}

static void check_all(int way) {
    int reports_inactive = way == WAIT || way == TEST || way == WAITALL || way == TESTALL || way == STATUS ||
        way == STATUS_ALL;
    for (int place = 0; place < COUNT; place++) {
        Item *item = &items[item_at[place]];
        EQUAL(item->seen, reports_inactive || is_active(item->kind));
        int stays = is_persistent(item->kind) || item->kind == INACTIVE_COLLECTIVE || item->kind == INACTIVE_RECEIVE;
        CHECK((requests[place] != MPI_REQUEST_NULL) == stays, "only persistent requests stay");
        if (stays)
            OK(MPI_Request_free(&requests[place]));
        if (is_collective(item->kind))
            discard(&item->it);
        if (item->kind == DUPLICATION)
            OK(MPI_Comm_free(&item->copy));
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    ring = ring_of(MPI_COMM_WORLD);
    Random random = {41 + (unsigned)rank};
    for (turn = 0; turn < 3 * WAYS; turn++) {
        int way = (turn + rank * (1 + turn / WAYS)) % WAYS;
        post_all(&random);
        if (way <= TEST || way == STATUS)
            complete_single(way);
        else if (way <= TESTALL || way == STATUS_ALL)
            complete_all(way);
        else if (way <= TESTANY || way == STATUS_ANY)
            complete_any(way);
        else
            complete_some(way);
        check_all(way);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Comm_free(&ring));
    return end();
}
