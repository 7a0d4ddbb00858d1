/* Memory runs out while requests, or with an argument communicators, are made: the call that needs more fails with
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
static void exhaust_comms(void) {
    MPI_Comm *comms = (MPI_Comm *)requests;
    long count = 0;
    int code = MPI_SUCCESS;
    while (count < MOST && (code = MPI_Comm_dup(MPI_COMM_WORLD, &comms[count])) == MPI_SUCCESS)
        count++;
    CHECK(count < MOST, "%ld communicators fit", count);
    EQUAL(class_of(code), MPI_ERR_NO_MEM);
    communicate();
    for (long i = 0; i < count; i++)
        OK(MPI_Comm_free(&comms[i]));
    communicate();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    OK(MPI_Barrier(comms[0]));
    OK(MPI_Comm_free(&comms[0]));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    other = rank ^ 1;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    requests = malloc(MOST * sizeof *requests);
    memset(requests, 0, MOST * sizeof *requests);
    communicate();
    limit();
    if (argc > 1)
        exhaust_comms();
    else {
        exhaust(receive, end_one);
        exhaust(prepare, free_one);
    }
    free(requests);
    return end();
}
