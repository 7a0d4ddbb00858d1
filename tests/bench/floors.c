/* What the machine can do without MPI, in nanoseconds: two processes, each on a processor of its own, give each other
   eight bytes and add them up, as an allreduce does; and two on one processor give it to one another. A line for each,
   the median of batches. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 15, EXCHANGES = 20000, HAND_OVERS = 2000 };

/* Each side writes its own line; two in turn, so that none is written before the other side has read it. */
struct cell {
    _Alignas(128) atomic_long sequence;
    double value;
};

static struct cell (*cells)[2];

static double now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static void pin(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* One side of `count` exchanges behind the first `done`; who waits gives its processor away, or does not. */
static void exchange(int side, long done, long count, int yields) {
    volatile double sum = 0;
    for (long k = done + 1; k <= done + count; k++) {
        struct cell *mine = &cells[side][k % 2], *other = &cells[!side][k % 2];
        mine->value = (double)k;
        atomic_store_explicit(&mine->sequence, k, memory_order_release);
        while (atomic_load_explicit(&other->sequence, memory_order_acquire) < k)
            if (yields)
                sched_yield();
        sum = mine->value + other->value;
    }
    (void)sum;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of one exchange between processors `first` and `second`. */
static double measure(int first, int second, long count) {
    double times[BATCHES];
    cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    int side = child == 0, yields = first == second;
    pin(side ? second : first);
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin = now_ns();
        exchange(side, batch * count, count, yields);
        times[batch] = (now_ns() - begin) / (double)count;
    }
    if (side)
        _exit(0);
    waitpid(child, NULL, 0);
    munmap(cells, 4096);
    qsort(times, BATCHES, sizeof *times, ascending);
    return times[BATCHES / 2];
}

int main(void) {
    cpu_set_t allowed;
    int processors[2] = {-1, -1}, found = 0;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            processors[found++] = cpu;
    if (found == 2)
        printf("exchange %.1f\n", measure(processors[0], processors[1], EXCHANGES));
    /* Who gets the processor ends the exchange that the other has begun, begins the next one, and gives it away. */
    printf("hand-over %.1f\n", measure(processors[0], processors[0], HAND_OVERS));
    return 0;
}
