/* What it costs to hand data to another processor through shared memory, without MPI: two processes send BYTES back and forth in
 * pieces of PIECE through rings of many lengths, stored by `rep movsb`, by vectors, and past the caches.
 *
 *     cc -O2 -march=native tests/bench/handover.c -o handover && ./handover [BYTES [PIECE [SECONDS]]]
 *
 * Rows: ways to store, and the bytes of each of the two rings. Columns: microseconds one way, least and median over rounds, apart for
 * what the machine was like before and after a round: near, if a cache line crosses in less than 100 ns, or far. x86-64 with AVX2. */
#define _GNU_SOURCE
#include <immintrin.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LENGTHS = 9, WAYS = 3, ROUNDS = 400, LINE_TRIPS = 300 };
static const size_t LONGEST = 16u << 20;
static const char *way_name[WAYS] = { "rep movsb", "vectors", "past the caches" };

/* A ring: positions in pieces of who writes and who reads, on lines of their own. */
struct ring { _Alignas(128) atomic_long written; _Alignas(128) atomic_long read; };
static struct shared { _Alignas(128) atomic_long line; _Alignas(128) atomic_int go; struct ring rings[LENGTHS * WAYS][2]; } *shared;
static char *memory[2];                 /* of the rings of both directions */
static long done[LENGTHS * WAYS];
static int me;
static long trips;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void copy(int way, char *to, const char *from, size_t bytes)
{
    if (way == 0) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        return;
    }
    for (size_t at = 0; at < bytes; at += 64) {     /* lengths are multiples of a line, and `to` begins with one */
        __m256i low = _mm256_loadu_si256((const void *)(from + at)), high = _mm256_loadu_si256((const void *)(from + at + 32));
        if (way == 1) {
            _mm256_storeu_si256((void *)(to + at), low);
            _mm256_storeu_si256((void *)(to + at + 32), high);
        } else {
            _mm256_stream_si256((void *)(to + at), low);
            _mm256_stream_si256((void *)(to + at + 32), high);
        }
    }
    if (way == 2) _mm_sfence();
}

/* Nanoseconds that a line takes one way. */
static double line_ns(void)
{
    double begin = now();
    for (long end = trips + 2 * LINE_TRIPS; trips < end; trips += 2)
        if (me == 0) {
            atomic_store_explicit(&shared->line, trips + 1, memory_order_release);
            while (atomic_load_explicit(&shared->line, memory_order_acquire) != trips + 2) ;
        } else {
            while (atomic_load_explicit(&shared->line, memory_order_acquire) != trips + 1) ;
            atomic_store_explicit(&shared->line, trips + 2, memory_order_release);
        }
    return (now() - begin) * 1e9 / (2 * LINE_TRIPS);
}

/* One message from `sender` to the other one. */
static void message(int test, int sender, char *buffer, size_t bytes, size_t piece)
{
    struct ring *ring = &shared->rings[test][sender];
    long cells = (long)((65536ul << test / WAYS) / piece), first = done[test];
    for (size_t at = 0; at < bytes; at += piece, first++) {
        char *cell = memory[sender] + (size_t)(first % cells) * piece;
        if (sender == me) {
            while (first - atomic_load_explicit(&ring->read, memory_order_acquire) >= cells) ;
            copy(test % WAYS, cell, buffer + at, piece);
            atomic_store_explicit(&ring->written, first + 1, memory_order_release);
        } else {
            while (atomic_load_explicit(&ring->written, memory_order_acquire) <= first) ;
            copy(0, buffer + at, cell, piece);
            atomic_store_explicit(&ring->read, first + 1, memory_order_release);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoul(argv[1], 0, 0) : 65536, piece = argc > 2 ? strtoul(argv[2], 0, 0) : 16384;
    double seconds = argc > 3 ? atof(argv[3]) : 20;
    static double times[LENGTHS * WAYS][2][ROUNDS];
    static int counts[LENGTHS * WAYS][2];
    if (bytes % piece || piece % 64 || piece > 65536) { fputs("handover: BYTES are some PIECEs of lines\n", stderr); return 2; }
    int none = -1, flags = MAP_SHARED | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
    shared = mmap(0, sizeof *shared, both, flags, none, 0);
    for (int side = 0; side < 2; side++)        /* in the middle of a page, where buffers do not begin */
        memory[side] = (char *)mmap(0, LONGEST + 4096, both, flags, none, 0) + 2048;
    pid_t parent = getpid();
    if (fork() == 0) { me = 1; prctl(PR_SET_PDEATHSIG, SIGKILL); if (getppid() != parent) return 1; }
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(me, &cpu);
    sched_setaffinity(0, sizeof cpu, &cpu);
    char *out = aligned_alloc(4096, bytes + 4096), *in = aligned_alloc(4096, bytes + 4096);
    memset(out, 1, bytes + 4096);
    memset(in, 2, bytes + 4096);
    out += 16, in += 16;                        /* as malloc */
    double begin = now();
    for (int round = 1; round <= ROUNDS; round++) {
        if (me == 0) atomic_store(&shared->go, now() - begin < seconds ? round : -1);
        int go;
        while ((go = atomic_load(&shared->go)) != round && go >= 0) ;
        if (go < 0) break;
        for (int test = 0; test < LENGTHS * WAYS; test++) {
            double before = line_ns(), time = 0;
            for (int warm = 1; warm >= 0; warm--) {
                long times_each = 1 + (long)((warm ? 3e-4 : 1e-3) * 8e9 / bytes);
                double start = now();
                for (long each = 0; each < times_each; each++)
                    for (int sender = 0; sender < 2; sender++) {
                        message(test, sender, sender != me ? in : me == 0 ? out : in, bytes, piece);
                        if (sender == 1) done[test] += (long)(bytes / piece);
                    }
                time = (now() - start) / times_each / 2;
            }
            int far = before > 100;
            if ((line_ns() > 100) == far) times[test][far][counts[test][far]++] = time;
        }
    }
    if (me == 1) return 0;
    printf("%zu bytes in pieces of %zu\n%-16s %10s %24s %24s\n", bytes, piece, "stored by", "ring", "near: n least median", "far: n least median");
    for (int test = 0; test < LENGTHS * WAYS; test++) {
        printf("%-16s %10lu", way_name[test % WAYS], 65536ul << test / WAYS);
        for (int far = 0; far < 2; far++) {
            int n = counts[test][far];
            qsort(times[test][far], (size_t)n, sizeof(double), ascending);
            if (n) printf(" %8d %7.2f %7.2f", n, times[test][far][0] * 1e6, times[test][far][n / 2] * 1e6);
            else printf(" %24s", "-");
        }
        puts("");
    }
    return 0;
}
