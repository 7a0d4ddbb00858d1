/* Wishes for the plans of persistent collectives: each value of the info key, alike on all ranks or not, within a group
   and between two; the results are right, and no buffer is touched before the first start, when it may be anything.
   MPI-5.0: Collective Communication, Persistent Collective Operations; The Info Object. */
#include "sorts.h"

enum { LONG = 20000, REQUESTS = 4 };

/* The last ones mean nothing. */
static const char *const WISHES[] = {"measure",  "estimate", "node-flat", "node-sliced", "node-tree", "node-chain",
                                     "node-whole", "ring",   "binomial",  "pairwise",    "linear",    "dissemination",
                                     "doubling", "direct",   "recursive-doubling", "lines", "messages", "rign", ""};
enum { COUNT = sizeof WISHES / sizeof *WISHES };

static MPI_Info info_of(const char *wish) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "oxmpi_plan", wish));
    return info;
}

/* Changes what is in the buffers at every call; whether it is still there. */
static void mark(Collective *it, int round) {
    for (int i = 0; i <= it->room; i++) {
        it->sent[i] = 17 * i + round;
        it->received[i] = 31 * i + round;
    }
}

static void check_marks(const Collective *it, int round) {
    for (int i = 0; i <= it->room; i++) {
        EQUAL(it->sent[i], 17 * i + round);
        EQUAL(it->received[i], 31 * i + round);
    }
}

/* Prepares with this rank's wish, and starts several times with other data. */
static void prepare(Collective *it, const char *wish, MPI_Request *request) {
    it->info = wish ? info_of(wish) : MPI_INFO_NULL;
    mark(it, 5);
    call(it, PERSISTENT, request);
    check_marks(it, 5);
    if (wish)
        OK(MPI_Info_free(&it->info));
}

static void run(Collective *it, MPI_Request *request) {
    for (int round = 1; round < 4; round++) {
        fill(it, round);
        OK(MPI_Start(request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        verify(it, round);
    }
}

static void with_wish(MPI_Comm comm, int sort, int count, const char *wish) {
    MPI_Request request;
    Collective it = collective(comm, sort, count, sort);
    prepare(&it, wish, &request);
    run(&it, &request);
    OK(MPI_Request_free(&request));
    discard(&it);
}

/* Every fourth value: by all; by each rank another one; and for the first by one rank alone. */
static void some_wishes(MPI_Comm comm, int sort, int count, int first) {
    for (int w = first % 4; w < COUNT; w += 4) {
        with_wish(comm, sort, count, WISHES[w]);
        with_wish(comm, sort, count, WISHES[(w + rank) % COUNT]);
    }
    with_wish(comm, sort, count, rank == sort % size ? WISHES[first % 4] : NULL);
}

/* Beside messages and collectives that are under way, several requests whose order of starts differs. */
static void beside_others(MPI_Comm comm, int sort) {
    Collective all[REQUESTS], before = collective(comm, ALLREDUCE, 300, 0);
    MPI_Request requests[REQUESTS], pending, messages[2];
    int next = (rank + 1) % size, last = (rank + size - 1) % size, token = rank, got = -1;
    fill(&before, 9);
    call(&before, NONBLOCKING, &pending);
    OK(MPI_Irecv(&got, 1, MPI_INT, last, 3, MPI_COMM_WORLD, &messages[0]));
    for (int k = 0; k < REQUESTS; k++) {
        all[k] = collective(comm, (sort + k) % SORTS, 40 * k, k);
        prepare(&all[k], k % 2 ? WISHES[(rank + k) % COUNT] : "measure", &requests[k]);
    }
    OK(MPI_Isend(&token, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &messages[1]));
    for (int k = 0; k < REQUESTS; k++) {
        int i = rank % 2 ? k : REQUESTS - 1 - k;
        fill(&all[i], i);
        OK(MPI_Start(&requests[i]));
    }
    OK(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(2, messages, MPI_STATUSES_IGNORE));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    verify(&before, 9);
    EQUAL(got, last);
    for (int k = 0; k < REQUESTS; k++) {
        verify(&all[k], k);
        OK(MPI_Request_free(&requests[k]));
        discard(&all[k]);
    }
    discard(&before);
}

/* A rank beside the root names no operation, and may not know which one the others try with it.
   MPI-5.0: Collective Communication, Specifics for Inter-Communicator Collective Operations. */
static void beside_a_root(MPI_Comm comm) {
    /* So long that a trial has few runs, and what was called in the last ones is still known. */
    enum { ELEMENTS = 1 << 18 };
    static int in[ELEMENTS], out[ELEMENTS];
    MPI_Request request;
    MPI_Info info = info_of("measure");
    Collective it = collective(comm, REDUCE, 1, 0);
    MPI_Op op = it.is_beside_root ? MPI_OP_NULL : MPI_MAX;
    OK(MPI_Reduce_init(in, out, ELEMENTS, MPI_INT, op, it.root_argument, comm, info, &request));
    OK(MPI_Barrier(comm));
    for (int i = 0; i < ELEMENTS; i++)
        in[i] = rank + i;
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < ELEMENTS && it.is_root; i++)
        EQUAL(out[i], it.worlds[it.peers - 1] + i);
    OK(MPI_Request_free(&request));
    OK(MPI_Info_free(&info));
    discard(&it);
}

/* An operation of the program's is never called when nothing has been started. */
static int calls;

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    calls++;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void with_own_operation(void) {
    enum { ELEMENTS = 700 };
    static int in[ELEMENTS], out[ELEMENTS];
    MPI_Op op;
    MPI_Request request;
    MPI_Info info = info_of("measure");
    OK(MPI_Op_create(add, 1, &op));
    OK(MPI_Allreduce_init(in, out, ELEMENTS, MPI_INT, op, MPI_COMM_WORLD, info, &request));
    EQUAL(calls, 0);
    for (int i = 0; i < ELEMENTS; i++)
        in[i] = rank + i;
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < ELEMENTS; i++)
        EQUAL(out[i], size * (size - 1) / 2 + size * i);
    OK(MPI_Request_free(&request));
    OK(MPI_Op_free(&op));
    OK(MPI_Info_free(&info));
}

/* A rank whose block from another one is longer than it expects fails, and lets the others try what they have. */
static void with_a_wrong_length(void) {
    int in[16] = {0}, out[16], counts[16], expected[16], places[16];
    MPI_Request request;
    MPI_Info info = info_of("measure");
    for (int r = 0; r < size; r++)
        counts[r] = r + 1, expected[r] = rank + 1, places[r] = 0;
    counts[size - 1] += size > 1 && rank == 0;
    int code = MPI_Alltoallv_init(in, counts, places, MPI_INT, out, expected, places, MPI_INT, MPI_COMM_WORLD, info,
                                  &request);
    EQUAL(class_of(code), size > 1 && rank == size - 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (code == MPI_SUCCESS)
        OK(MPI_Request_free(&request));
    OK(MPI_Info_free(&info));
}

/* With gaps, and where sent is what is received, and of so many bytes that nothing is measured. */
static void with_other_buffers(void) {
    enum { ELEMENTS = 500, BYTES = 70 << 20 };
    struct {
        long value;
        int index;
    } best[ELEMENTS];
    int pairs[2 * ELEMENTS];
    MPI_Datatype every_second;
    MPI_Request requests[3];
    MPI_Info info = info_of("measure");
    OK(MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT, &every_second));
    OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < 2 * ELEMENTS; i++)
        pairs[i] = rank == 0 ? i : -i;
    for (int i = 0; i < ELEMENTS; i++)
        best[i].value = (rank + i) % size, best[i].index = rank;
    char *many = calloc(1, BYTES);
    OK(MPI_Bcast_init(pairs, 1, every_second, 0, MPI_COMM_WORLD, info, &requests[0]));
    OK(MPI_Allreduce_init(MPI_IN_PLACE, best, ELEMENTS, MPI_LONG_INT, MPI_MAXLOC, MPI_COMM_WORLD, info, &requests[1]));
    OK(MPI_Bcast_init(many, BYTES, MPI_BYTE, size - 1, MPI_COMM_WORLD, info, &requests[2]));
    if (rank == size - 1)
        memset(many, 7, BYTES);
    OK(MPI_Startall(3, requests));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < ELEMENTS; i++) {
        EQUAL(pairs[2 * i], 2 * i);
        EQUAL(pairs[2 * i + 1], rank == 0 ? 2 * i + 1 : -(2 * i + 1));
        EQUAL(best[i].value, size - 1);
        EQUAL((best[i].index + i) % size, size - 1);
    }
    EQUAL(many[BYTES - 1], 7);
    for (int k = 0; k < 3; k++)
        OK(MPI_Request_free(&requests[k]));
    OK(MPI_Type_free(&every_second));
    OK(MPI_Info_free(&info));
    free(many);
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int sort = 0; sort < SORTS; sort++) {
        for (int k = 0; k < made; k++)
            some_wishes(comms[k], sort, sort % 5 ? 90 : LONG / size, sort + k);
        beside_others(comms[sort % made], sort);
    }
    beside_a_root(comms[made - 1]);
    with_own_operation();
    with_a_wrong_length();
    with_other_buffers();
    free_comms(comms, made);
    return end();
}
