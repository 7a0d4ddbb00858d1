/* Memory runs out while requests, or with an argument something else, are made: the call that needs more fails with
   MPI_ERR_NO_MEM, what there is stays usable, and when some is given back there is room again.
   MPI-5.0: Error Handling. */
#include "check.h"
#include <sys/resource.h>

enum { MOST = 4000000, ROOM = 200 << 20 };

static MPI_Request *requests;
static int value, other;

/* From now on this process may take ROOM more bytes of address space. */
static void limit(void) {
    long pages;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(fscanf(file, "%ld", &pages) == 1, "the pages of this process");
    fclose(file);
    struct rlimit bytes = {pages * 4096 + ROOM, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_AS, &bytes) == 0, "a limit");
}

static int receive(MPI_Request *request) {
    return MPI_Irecv(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, request);
}

static int prepare(MPI_Request *request) {
    return MPI_Recv_init(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, request);
}

static int prepare_buffered(MPI_Request *request) {
    return MPI_Bsend_init(&value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, request);
}

static int prepare_partitions(MPI_Request *request) {
    return MPI_Precv_init(&value, 1, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static int prepare_marks(MPI_Request *request) {
    return MPI_Psend_init(&value, 1, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request);
}

static int prepare_barrier(MPI_Request *request) {
    return MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, request);
}

static int send_and_receive(MPI_Request *request) {
    return MPI_Isendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, other, 1, MPI_COMM_WORLD, request);
}

static int meet(MPI_Request *request) {
    return MPI_Ibarrier(MPI_COMM_SELF, request);
}

static int query(void *state, MPI_Status *status) {
    (void)state;
    return MPI_Status_set_cancelled(status, 0);
}

static int forget(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int give_up(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static int start(MPI_Request *request) {
    return MPI_Grequest_start(query, forget, give_up, NULL, request);
}

/* Messages and collectives work. */
static void communicate(void) {
    int sent = rank, got, sum;
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, other, 9, &got, 1, MPI_INT, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(got, other);
    OK(MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
}

static void end_one(MPI_Request *request) {
    if (*request != MPI_REQUEST_NULL) {
        OK(MPI_Cancel(request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    }
}

static void free_one(MPI_Request *request) {
    OK(MPI_Request_free(request));
}

static void wait_for_one(MPI_Request *request) {
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void complete_one(MPI_Request *request) {
    if (*request != MPI_REQUEST_NULL) {
        OK(MPI_Grequest_complete(*request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    }
}

/* Requests until one is refused; then half of them go, and as many come. */
static void exhaust(int (*make)(MPI_Request *), void (*end)(MPI_Request *)) {
    long count = 0;
    int code = MPI_SUCCESS;
    while (count < MOST && (code = make(&requests[count])) == MPI_SUCCESS)
        count++;
    CHECK(count < MOST, "%ld requests fit", count);
    EQUAL(class_of(code), MPI_ERR_NO_MEM);
    communicate();
    for (long i = 0; i < count; i += 2)
        end(&requests[i]);
    communicate();
    for (long i = 0; i < count; i += 2)
        OK(make(&requests[i]));
    communicate();
    for (long i = 0; i < count; i++)
        end(&requests[i]);
    communicate();
}

/* Duplicates until there is no memory at a rank: all are told. */
static void exhaust_comms(MPI_Comm parent) {
    MPI_Comm *comms = (MPI_Comm *)requests;
    long count = 0;
    int code = MPI_SUCCESS;
    while (count < MOST && (code = MPI_Comm_dup(parent, &comms[count])) == MPI_SUCCESS)
        count++;
    CHECK(count < MOST, "%ld communicators fit", count);
    EQUAL(class_of(code), MPI_ERR_NO_MEM);
    communicate();
    for (long i = 0; i < count; i++)
        OK(MPI_Comm_free(&comms[i]));
    communicate();
    OK(MPI_Comm_dup(parent, &comms[0]));
    OK(MPI_Barrier(comms[0]));
    OK(MPI_Comm_free(&comms[0]));
}

/* Persistent collectives until there is no memory at a rank: all are told. And more, whose plans are to be measured in
   what is left: each works or is refused on all ranks. */
static void exhaust_collectives(void) {
    enum { LENGTH = 1 << 14, MEASURED = 40 };
    static double sent[LENGTH], got[LENGTH];
    MPI_Info info;
    long count = 0, refused = 0;
    int code = MPI_SUCCESS;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "oxmpi_plan", "measure"));
    while (count < MOST && code == MPI_SUCCESS) {
        code = MPI_Allreduce_init(sent, got, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count]);
        count += code == MPI_SUCCESS;
    }
    CHECK(count < MOST, "%ld operations fit", count);
    EQUAL(class_of(code), MPI_ERR_NO_MEM);
    communicate();
    for (int i = 1; i <= MEASURED; i++) {
        MPI_Request request;
        code = MPI_Allreduce_init(sent, got, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, info, &request);
        if (code != MPI_SUCCESS) {
            EQUAL(class_of(code), MPI_ERR_NO_MEM);
            refused++;
            OK(MPI_Request_free(&requests[--count]));
            continue;
        }
        sent[LENGTH - 1] = i;
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EQUAL((int)got[LENGTH - 1], size * i);
        OK(MPI_Request_free(&request));
    }
    CHECK(refused < MEASURED, "there is room again");
    communicate();
    for (long i = 0; i < count; i++)
        OK(MPI_Request_free(&requests[i]));
    communicate();
    OK(MPI_Info_free(&info));
}

/* A message to this process itself for which no receive is there is kept; with one it takes no memory. */
static void send_to_itself(void) {
    enum { LENGTH = 2 * ROOM, EACH = 1 << 10, BLOCKS = LENGTH / EACH / 4 };
    static char data[LENGTH];
    MPI_Datatype every_other;
    MPI_Request request;
    OK(MPI_Isend(data, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    GIVES(MPI_ERR_NO_MEM, MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Type_vector(BLOCKS, EACH, 2 * EACH, MPI_BYTE, &every_other));
    OK(MPI_Type_commit(&every_other));
    data[(BLOCKS - 1) * 2 * EACH] = 7;
    OK(MPI_Irecv(data + LENGTH / 2, BLOCKS * EACH, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Ssend(data, 1, every_other, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(data[LENGTH / 2 + (BLOCKS - 1) * EACH], 7);
    OK(MPI_Type_free(&every_other));
    communicate();
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    other = rank ^ 1;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    requests = malloc(MOST * sizeof *requests);
    memset(requests, 0, MOST * sizeof *requests);
    communicate();
    limit();
    const char *what = argc > 1 ? argv[1] : "messages";
    if (strcmp(what, "comms") == 0)
        exhaust_comms(MPI_COMM_WORLD);
    else if (strcmp(what, "own comms") == 0)
        exhaust_comms(MPI_COMM_SELF);
    else if (strcmp(what, "collectives") == 0)
        exhaust_collectives();
    else if (strcmp(what, "to itself") == 0)
        send_to_itself();
    else if (strcmp(what, "messages") == 0) {
        exhaust(receive, end_one);
        exhaust(prepare, free_one);
    } else {
        exhaust(send_and_receive, end_one);
        exhaust(prepare_buffered, free_one);
        exhaust(prepare_partitions, free_one);
        exhaust(prepare_marks, free_one);
        exhaust(meet, wait_for_one);
        exhaust(prepare_barrier, free_one);
        exhaust(start, complete_one);
    }
    free(requests);
    return end();
}
