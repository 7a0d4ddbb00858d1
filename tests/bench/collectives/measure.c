/* Timing of a point, or checking what comes of it.

   A batch is a loop without a barrier inside; its time is the greatest mean time of an iteration over the ranks. Of
   messages between two an iteration has several, and the time is that of one. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_BATCHES 64

double batch_ms = 5, point_ms = 1000;
int batches = 7;
bool check;

static const char *const lifetime_names[LIFETIMES] = {"blocking", "nonblocking", "persistent"};
static MPI_Request *requests; /* one for each root, or those of the messages */
static int fault;             /* of any call of this rank, 0 if none */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* --- The state of the machine: two processors of a virtual machine are near to one another or far, and the host may
   change that while we run. Ranks 0 and 1 bounce a cache line before and after each point. --- */
static volatile long *line;

void line_open(void) {
    char name[32] = "";
    int file = -1, none;
    if (size < 2 || size > sysconf(_SC_NPROCESSORS_ONLN))
        return;
    if (rank == 0) {
        snprintf(name, sizeof name, "/collectives-%ld", (long)getpid());
        file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
        if (file >= 0 && ftruncate(file, 4096)) {
            close(file);
            file = -1;
        }
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1)
        file = shm_open(name, O_RDWR, 0600);
    none = rank < 2 && file < 0;
    MPI_Allreduce(MPI_IN_PLACE, &none, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        shm_unlink(name);
    if (!none && rank < 2) {
        void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        line = at == MAP_FAILED ? NULL : at;
    }
    if (file >= 0)
        close(file);
}

/* Nanoseconds of the line's way to the other processor; 0 if unknown. */
static double line_ns(void) {
    enum { TRIPS = 400 };
    if (!line)
        return 0;
    MPI_Request request; /* only the two meet: others go on */
    long base = *line;
    MPI_Irecv(NULL, 0, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_BYTE, 1 - rank, 9, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    double begin = now();
    for (long i = 1; i <= 2 * TRIPS; i += 2)
        if (rank == 0) {
            __atomic_store_n(line, base + i, __ATOMIC_RELEASE);
            while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != base + i + 1)
                ;
        } else {
            while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != base + i)
                ;
            __atomic_store_n(line, base + i + 1, __ATOMIC_RELEASE);
        }
    return (now() - begin) * 1e9 / (2 * TRIPS);
}

/* --- Loops --- */

static int next_root(int root) {
    return point.rotating && root + 1 < size ? root + 1 : 0;
}

static int loop_messages(long iterations) {
    int code = MPI_SUCCESS;
    for (long i = 0; i < iterations; i++) {
        operation_make(0);
        if (point.lifetime == PERSISTENT)
            code |= MPI_Startall(2 * DIRECTIONS, requests);
        else
            code |= messages_begin(point.lifetime, requests);
        if (point.lifetime != BLOCKING)
            code |= MPI_Waitall(2 * DIRECTIONS, requests, MPI_STATUSES_IGNORE);
        operation_read(0);
    }
    return code;
}

static int loop_collective(long iterations) {
    int code = MPI_SUCCESS, root = 0;
    MPI_Request request;
    if (point.lifetime == BLOCKING)
        for (long i = 0; i < iterations; i++, root = next_root(root)) {
            operation_make(root);
            code |= operation_begin(BLOCKING, root, NULL);
            operation_read(root);
        }
    else if (point.lifetime == NONBLOCKING)
        for (long i = 0; i < iterations; i++, root = next_root(root)) {
            operation_make(root);
            code |= operation_begin(NONBLOCKING, root, &request);
            code |= MPI_Wait(&request, MPI_STATUS_IGNORE);
            operation_read(root);
        }
    else
        for (long i = 0; i < iterations; i++, root = next_root(root)) {
            operation_make(root);
            code |= MPI_Start(&requests[root]);
            code |= MPI_Wait(&requests[root], MPI_STATUS_IGNORE);
            operation_read(root);
        }
    return code;
}

/* Seconds of an iteration on this rank. */
static double loop(long iterations) {
    unsigned traits = point.operation->traits;
    double begin = now();
    fault |= traits & MESSAGES ? loop_messages(iterations)
             : traits & PAIR   ? pairs_loop(iterations, requests)
                               : loop_collective(iterations);
    return (now() - begin) / (double)iterations;
}

static double greatest(double mine) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Runs up to the iterations that fill a batch: all ranks see the same times and agree. */
static long calibrate(double *spent) {
    long iterations = 1;
    for (;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now(), took = greatest(loop(iterations)) * (double)iterations;
        *spent = greatest(*spent + now() - begin);
        double fill = batch_ms * 1e-3 / (took > 1e-9 ? took : 1e-9);
        long wanted = (long)((double)iterations * fill);
        if (took * 1e3 >= batch_ms / 2 || *spent * 1e3 > point_ms / 2 || iterations > 50000000)
            return wanted < 1 ? 1 : wanted;
        iterations = wanted < 2 * iterations ? 2 * iterations : wanted > 16 * iterations ? 16 * iterations : wanted;
    }
}

/* --- Points --- */

static int request_count(void) {
    unsigned traits = point.operation->traits;
    return traits & PAIR ? pairs_requests() : traits & MESSAGES ? 2 * DIRECTIONS : point.rotating ? size : 1;
}

static void release(void) {
    if (point.lifetime == PERSISTENT)
        for (int k = 0; k < request_count(); k++)
            if (requests[k] != MPI_REQUEST_NULL)
                MPI_Request_free(&requests[k]);
    if (point.operation->traits & NEIGHBORS)
        neighbors_release();
    free(requests);
}

/* Makes the persistent requests, or calls once: an operation that fails does it here, on every rank. */
static bool prepare(void) {
    if (point.operation->traits & PAIR)
        pairs_prepare();
    MPI_Request *made = requests = malloc(sizeof *requests * (size_t)(size + request_count()));
    for (int k = 0; k < request_count(); k++)
        requests[k] = MPI_REQUEST_NULL;
    operations_prepare();
    if (point.operation->traits & NEIGHBORS)
        neighbors_prepare();
    if (point.operation->traits & PAIR) {
        fault = point.lifetime == PERSISTENT ? pairs_make(requests) : pairs_loop(1, requests);
    } else if (point.operation->traits & MESSAGES) {
        fault = messages_begin(point.lifetime, requests);
        if (point.lifetime == NONBLOCKING)
            fault |= MPI_Waitall(2 * DIRECTIONS, requests, MPI_STATUSES_IGNORE);
    } else if (point.lifetime == PERSISTENT) {
        fault = MPI_SUCCESS;
        for (int root = 0; root < request_count(); root++)
            fault |= operation_begin(PERSISTENT, root, made++);
    } else {
        MPI_Request request;
        fault = operation_begin(point.lifetime, 0, &request);
        if (point.lifetime == NONBLOCKING && !fault)
            fault = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return greatest(fault) == 0;
}

/* When the last rank came that a barrier waits for: one of the other group, if there are two. */
static double last_entry(double came) {
    double mine[2] = {0, 0}, all[2];
    mine[local.base != 0] = came;
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[remote.base != 0];
}

/* Batches of a few iterations with changing data, each looked at. The number of wrong elements of all ranks. */
static long checked(void) {
    long wrong = 0, all;
    for (int batch = 0; batch < batches; batch++) {
        int iterations = (point.rotating ? size : 1) + batch % 3, last_root = 0;
        for (int i = 1; i < iterations; i++)
            last_root = next_root(last_root);
        point.operation->traits & PAIR ? pairs_fill(batch) : operation_fill(batch);
        MPI_Barrier(MPI_COMM_WORLD);
        double came = now();
        loop(iterations);
        double left = now();
        wrong += point.operation->traits & PAIR ? pairs_wrong(batch)
                 : point.id == BARRIER          ? left < last_entry(came)
                                                : operation_wrong(batch, last_root);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_time(void) {
    double times[MOST_BATCHES], spent = 0;
    int done = 0;
    long iterations = calibrate(&spent);
    double before = line_ns(), parts = point.operation->traits & PAIR ? pairs_messages() : 1;
    while (done < batches && done < MOST_BATCHES && (done == 0 || spent * 1e3 < point_ms)) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now();
        times[done++] = greatest(loop(iterations)) / parts;
        spent = greatest(spent + now() - begin);
    }
    double after = line_ns();
    qsort(times, (size_t)done, sizeof *times, ascending);
    if (rank != 0)
        return;
    printf(",\"iterations\":%ld,\"batches\":%d,\"min_us\":%.4f,\"med_us\":%.4f,\"max_us\":%.4f", iterations, done,
           times[0] * 1e6, times[done / 2] * 1e6, times[done - 1] * 1e6);
    if (before > 0)
        printf(",\"line_lo\":%.1f,\"line_hi\":%.1f", before < after ? before : after, before < after ? after : before);
}

/* One line: what the point is, and, when it has run, what came of it. Who reads it learns from an unfinished line which
   point did not come to its end. */
void measure(void) {
    const struct operation *operation = point.operation;
    if (rank == 0) {
        printf("{\"op\":\"%s\",\"mode\":\"%s\",\"root\":\"%s\",\"blocks\":\"%s\",\"comm\":\"%s\",\"bytes\":%ld,"
               "\"np\":%d",
               operation->name, lifetime_names[point.lifetime],
               !(operation->traits & ROOTED) ? "none" : point.rotating ? "rotating" : "fixed",
               point.uneven ? "uneven" : "equal", inter ? "inter" : "intra", point.bytes, size);
        fflush(stdout);
    }
    bool works = prepare();
    if (works && check) {
        long wrong = checked();
        if (rank == 0)
            printf(",\"wrong\":%ld", wrong);
    } else if (works) {
        print_time();
    }
    double code = greatest(fault);
    release();
    if (rank == 0) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        if (code != 0 && MPI_Error_string((int)code, text, &length) == MPI_SUCCESS)
            for (char *at = text; *at; at++)
                *at = *at == '"' || *at == '\\' || *at < ' ' ? ' ' : *at;
        printf(code != 0 ? ",\"error\":\"%.200s\"}\n" : "}\n", text);
        fflush(stdout);
    }
}
