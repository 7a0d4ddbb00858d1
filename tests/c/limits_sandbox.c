/* A program, or its container, forbids the system call membarrier, by which threads of a process and ranks order what
 * they do: after MPI_Init, in all ranks, or before it in one of them ("early"). Nobody waits for ever.
 * MPI-5.0: External Interfaces, MPI and Threads, Progress. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 3, LOOKS = 2000, MESSAGES = 20000 };

/* In all threads of the process. */
static void forbid(void) {
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof *steps, .filter = steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
        fprintf(stderr, "no filters of system calls here: not checked\n");
        return;
    }
    if (syscall(SYS_membarrier, 0, 0, 0) != -1 || errno != EPERM) {
        fprintf(stderr, "membarrier is not forbidden\n");
        exit(1);
    }
}

/* A thread that calls alone, many times. */
static void call_often(void) {
    int flag;
    for (int i = 0; i < LOOKS; i++)
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}

static void *call_from_thread(void *argument) {
    int sent = rank, received = -1;
    (void)argument;
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, rank, 7, &received, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(received, rank);
    call_often();
    return NULL;
}

/* One thread after the other calls often, and then both at the same time. */
static void call_from_threads(void) {
    pthread_t thread;
    for (int round = 0; round < ROUNDS; round++) {
        call_often();
        EQUAL(pthread_create(&thread, NULL, call_from_thread, NULL), 0);
        if (round == ROUNDS - 1)
            call_often();
        EQUAL(pthread_join(thread, NULL), 0);
    }
}

/* A word from each to each; two talk while the others sleep; then each hears a word from each again. */
static void talk(void) {
    int told = rank, heard;
    for (int step = 0; step < size; step++)
        OK(MPI_Sendrecv(&told, 1, MPI_INT, (rank + step) % size, step, &heard, 1, MPI_INT, (rank + size - step) % size,
                        step, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 0)
        usleep(20000);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; rank < 2 && size > 1 && i < MESSAGES; i++)
        OK(MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &heard, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    int provided;
    int is_early = argc > 1 && strcmp(argv[1], "early") == 0;
    if (is_early && strcmp(getenv("OXMPI_RANK"), "1") == 0)
        forbid();
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    joined();
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    talk();
    call_often();
    if (!is_early)
        forbid();
    call_from_threads();
    for (int round = 0; round < ROUNDS; round++)
        talk();
    return end();
}
