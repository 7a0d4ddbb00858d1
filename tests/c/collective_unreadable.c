/* Ranks read each other's memory, as OXMPI_SINGLE_COPY=always asks for, until the system forbids it to one of them: by
 * a filter that comes in the middle ("filter"), or since some memory is secret ("secret"). Nobody notices.
 * MPI-5.0: Collective Communication. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 30000, ROUNDS = 20 };

static long *in, *out;

/* In all threads of the process; whether there are such filters. */
static int forbid(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        return 0;
    return process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == -1 && errno == EPERM;
}

/* Memory that no other process sees, by whatever call; none where the system has none. */
static long *secret(size_t bytes) {
#ifdef SYS_memfd_secret
    int fd = (int)syscall(SYS_memfd_secret, 0);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory != MAP_FAILED)
            return memory;
    }
#endif
    return NULL;
}

static long value(int round, int of, int i) {
    return round * 1009L + of * 7919L + i;
}

static void fill(int round) {
    for (int i = 0; i < COUNT; i++)
        in[i] = value(round, rank, i);
    memset(out, 0xee, sizeof *out * COUNT * (size_t)size);
}

/* One collective of each kind: what is read goes into memory as it is, or is combined. */
static void call(int round) {
    int root = round % size, block = COUNT / size;
    fill(round);
    OK(MPI_Allgather(in, COUNT, MPI_LONG, out, COUNT, MPI_LONG, MPI_COMM_WORLD));
    for (int of = 0; of < size; of++)
        for (int i = 0; i < COUNT; i += 97)
            EQUAL(out[of * COUNT + i], value(round, of, i));
    fill(round);
    OK(MPI_Alltoall(in, block, MPI_LONG, out, block, MPI_LONG, MPI_COMM_WORLD));
    for (int of = 0; of < size; of++)
        for (int i = 0; i < block; i += 97)
            EQUAL(out[of * block + i], value(round, of, rank * block + i));
    fill(round);
    OK(MPI_Bcast(in, COUNT, MPI_LONG, root, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i += 97)
        EQUAL(in[i], value(round, root, i));
    fill(round);
    OK(MPI_Allreduce(in, out, COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i += 97) {
        long sum = 0;
        for (int of = 0; of < size; of++)
            sum += value(round, of, i);
        EQUAL(out[i], sum);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int is_secret = argc > 1 && strcmp(argv[1], "secret") == 0;
    in = malloc(sizeof *in * COUNT);
    out = malloc(sizeof *out * COUNT * (size_t)size);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == ROUNDS / 2 && rank == size - 1) {
            long *hidden = is_secret ? secret(sizeof *in * COUNT) : NULL;
            if (hidden != NULL)
                in = hidden;
            else if (is_secret || !forbid())
                fprintf(stderr, "the system cannot forbid this: not checked\n");
        }
        call(round);
    }
    return end();
}
