/* With OXMPI_PROGRESS=thread long operations go on while the program computes; nothing of the program's own is run by the
   thread, what it finds wrong is told by the call that completes the operation, and it sleeps, and ends with MPI.
   MPI-5.0: MPI Terms and Conventions, Progress. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

enum { LONG = 1 << 20, VERY_LONG = 16 << 20, ROUNDS = 3 };

static unsigned char *sent, *received;
static char folder[] = "/tmp/oxmpi-progress-XXXXXX";
static pthread_t program;
static int marks, errors;

/* A place that all ranks see and that no call of MPI is needed for. */
static const char *mark_of(int number) {
    static char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/%d", folder, number);
    return path;
}

static void mark(void) {
    FILE *file = fopen(mark_of(marks), "w");
    CHECK(file != NULL, "%s", mark_of(marks));
    fclose(file);
}

/* Computes, without a call, until another rank has marked this place. */
static void compute_until_marked(void) {
    while (access(mark_of(marks), F_OK) != 0)
        sched_yield();
}

static void next_mark(void) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        unlink(mark_of(marks));
    marks++;
}

/* The other rank completes what this one has only begun. */
static void complete(MPI_Request *request) {
    if (rank == 0)
        compute_until_marked();
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (rank == 1)
        mark();
    next_mark();
}

static void fill(unsigned char *bytes, int count, int seed) {
    for (int i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7 + seed);
}

static void holds(const unsigned char *bytes, int count, int seed) {
    for (int i = 0; i < count; i++)
        if (bytes[i] != (unsigned char)(i * 7 + seed))
            CHECK(0, "byte %d of %d is wrong", i, count);
}

static void messages(int bytes) {
    MPI_Request request;
    MPI_Status status;
    for (int round = 0; round < ROUNDS; round++) {
        fill(sent, bytes, round);
        memset(received, 0xa5, bytes);
        if (rank == 0)
            OK(MPI_Isend(sent, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
        else
            OK(MPI_Irecv(received, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request));
        complete(&request);
        if (rank == 1)
            holds(received, bytes, round);
        /* And the other way round: the send of rank 1 is over when rank 0 has all of it. */
        if (rank == 0) {
            OK(MPI_Irecv(received, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
            compute_until_marked();
            OK(MPI_Wait(&request, &status));
            check_status(&status, 1, 0, MPI_BYTE, bytes);
            holds(received, bytes, round);
        } else {
            OK(MPI_Ssend(sent, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
            mark();
        }
        next_mark();
    }
}

static void collectives(int bytes, int persistent) {
    MPI_Request request;
    unsigned char *buffer = rank == 0 ? sent : received;
    for (int what = 0; what < 2; what++) {
        if (persistent && what == 0)
            OK(MPI_Bcast_init(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        else if (persistent)
            OK(MPI_Allreduce_init(sent, received, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        for (int round = 0; round < ROUNDS; round++) {
            fill(sent, bytes, round);
            if (what == 1 && rank == 1)
                memset(sent, 0, bytes);
            if (persistent)
                OK(MPI_Start(&request));
            else if (what == 0)
                OK(MPI_Ibcast(buffer, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request));
            else
                OK(MPI_Iallreduce(sent, received, bytes, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD, &request));
            complete(&request);
            holds(what == 0 ? buffer : received, bytes, round);
        }
        if (persistent)
            OK(MPI_Request_free(&request));
    }
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    CHECK(pthread_equal(pthread_self(), program), "the operation is run by another thread");
    for (int i = 0; i < *length; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* Beside an operation that the thread moves on. */
static void operations_of_the_program(void) {
    MPI_Request requests[2];
    MPI_Op op;
    int count = LONG / 4, *mine = (int *)sent, *sum = malloc(LONG);
    OK(MPI_Op_create(add, 1, &op));
    for (int i = 0; i < count; i++)
        mine[i] = i;
    OK(MPI_Iallreduce(mine, sum, count, MPI_INT, op, MPI_COMM_WORLD, &requests[0]));
    if (rank == 0)
        OK(MPI_Isend(sent, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &requests[1]));
    else
        OK(MPI_Irecv(received, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[1]));
    complete(&requests[1]);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++)
        EQUAL(sum[i], 2 * i);
    OK(MPI_Op_free(&op));
    free(sum);
}

static void note_error(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    EQUAL(class_of(*code), MPI_ERR_TRUNCATE);
    CHECK(pthread_equal(pthread_self(), program), "the error handler is run by another thread");
    errors++;
}

/* A message that is too long is noticed by the thread, and told by the wait. */
static void errors_wait(void) {
    MPI_Errhandler handler;
    MPI_Request request;
    OK(MPI_Comm_create_errhandler(note_error, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    if (rank == 0) {
        OK(MPI_Irecv(received, LONG / 2, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
        compute_until_marked();
        EQUAL(errors, 0);
        GIVES(MPI_ERR_TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EQUAL(errors, 1);
    } else {
        OK(MPI_Ssend(sent, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
        mark();
    }
    next_mark();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&handler));
}

/* What a file of the progress thread says; false if there is no such thread. */
static int thread_says(const char *name, char *text, int length) {
    char path[300];
    int found = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; !found && (task = readdir(tasks)) != NULL;) {
        FILE *file;
        char called[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
        if ((file = fopen(path, "r")) == NULL)
            continue;
        found = fgets(called, sizeof called, file) != NULL && strcmp(called, "oxmpi-progress\n") == 0;
        fclose(file);
        if (!found)
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/%s", task->d_name, name);
        CHECK((file = fopen(path, "r")) != NULL, "%s", path);
        text[fread(text, 1, length - 1, file)] = 0;
        fclose(file);
    }
    closedir(tasks);
    return found;
}

/* How often the thread has given its processor away of itself: each time that it was woken, it has once more. */
static long sleeps(void) {
    char text[4096];
    CHECK(thread_says("status", text, sizeof text), "there is a thread");
    return strtol(strstr(text, "\nvoluntary_ctxt_switches:") + 25, NULL, 10);
}

static void exchange(int messages) {
    int token = 0;
    for (int i = 0; i < messages; i++)
        if (rank == 0) {
            OK(MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
            OK(MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        }
}

/* Where nothing is long nobody wakes it, though messages come. */
static void sleeps_while_nothing_is_long(void) {
    char text[4096];
    for (int twice = 0; twice < 2; twice++) {
        exchange(10); /* it may sleep where messages wake it, once */
        do
            CHECK(rank != 0 || thread_says("stat", text, sizeof text), "there is a thread");
        while (rank == 0 && strstr(text, ") S ") == NULL);
    }
    long before = rank == 0 ? sleeps() : 0;
    exchange(1000);
    if (rank == 0)
        EQUAL(sleeps(), before);
}

/* Signals are for the threads of the program. */
static void blocks_signals(void) {
    char text[4096];
    if (rank != 0)
        return;
    CHECK(thread_says("status", text, sizeof text), "there is a thread");
    unsigned long long blocked = strtoull(strstr(text, "\nSigBlk:") + 8, NULL, 16);
    CHECK(blocked >> 14 & 1 && blocked >> 13 & 1, "SIGTERM and SIGALRM are delivered to it");
}

int main(int argc, char **argv) {
    char text[4096];
    int provided;
    int required = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    OK(MPI_Init_thread(&argc, &argv, required, &provided));
    EQUAL(provided, required);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EQUAL(size, 2);
    program = pthread_self();
    CHECK(!thread_says("comm", text, sizeof text), "it is there before anything is long");
    sent = malloc(VERY_LONG);
    received = malloc(VERY_LONG);
    if (rank == 0)
        CHECK(mkdtemp(folder) != NULL, "%s", folder);
    OK(MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int bytes = LONG; bytes <= VERY_LONG; bytes *= 16) {
        messages(bytes);
        collectives(bytes, 0);
        collectives(bytes, 1);
    }
    operations_of_the_program();
    errors_wait();
    blocks_signals();
    sleeps_while_nothing_is_long();
    OK(MPI_Query_thread(&provided));
    EQUAL(provided, required);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        rmdir(folder);
    free(sent);
    free(received);
    int status = end();
    while (thread_says("comm", text, sizeof text)) /* it has been joined; the system lists it a moment longer */
        ;
    return status;
}
