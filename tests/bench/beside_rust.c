/* What short calls cost in C, beside crates/oxmpi/benches/beside_c.rs, which makes the same in Rust. Both are run by
   rust.py, and print lines "name ns": the median over batches of the time of a call (of a message, for the ping-pong)
   on rank 0. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 31, LONG = 1 << 20 };

static int rank;
static char *buf;
static double mine[1] = {1}, theirs[1];
static MPI_Request sum, there, back;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double measure(int times, void (*batch)(int)) {
    double each[BATCHES];
    batch(times);
    for (int i = 0; i < BATCHES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now();
        batch(times);
        each[i] = (now() - begin) / times;
    }
    qsort(each, BATCHES, sizeof each[0], by_value);
    return each[BATCHES / 2];
}

static void pingpong(int times) {
    for (int i = 0; i < times; i++) {
        if (rank == 0) {
            MPI_Send(mine, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(theirs, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            MPI_Recv(theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static void persistent_pingpong(int times) {
    if (rank > 1)
        return;
    MPI_Request first = rank == 0 ? there : back, second = rank == 0 ? back : there;
    for (int i = 0; i < times; i++) {
        MPI_Start(&first);
        MPI_Wait(&first, MPI_STATUS_IGNORE);
        MPI_Start(&second);
        MPI_Wait(&second, MPI_STATUS_IGNORE);
    }
}

static void persistent_allreduce(int times) {
    for (int i = 0; i < times; i++) {
        MPI_Start(&sum);
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
}

static void allreduce(int times) {
    for (int i = 0; i < times; i++)
        MPI_Allreduce(mine, theirs, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(int times) {
    for (int i = 0; i < times; i++)
        MPI_Bcast(buf, LONG, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void show(const char *name, double ns) {
    if (rank == 0)
        printf("%s %.1f\n", name, ns);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    buf = malloc(LONG);
    memset(buf, 1, LONG); /* pages that were never written are all the same one */
    MPI_Allreduce_init(mine, theirs, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sum);
    MPI_Send_init(mine, 1, MPI_DOUBLE, rank == 0, 1, MPI_COMM_WORLD, &there);
    MPI_Recv_init(theirs, 1, MPI_DOUBLE, rank == 0, 1, MPI_COMM_WORLD, &back);
    show("pingpong", measure(2000, pingpong) / 2);
    show("pingpong_init", measure(2000, persistent_pingpong) / 2);
    show("allreduce_init", measure(5000, persistent_allreduce));
    show("allreduce", measure(5000, allreduce));
    show("bcast_1M", measure(20, bcast));
    MPI_Request_free(&there);
    MPI_Request_free(&back);
    MPI_Request_free(&sum);
    free(buf);
    MPI_Finalize();
    return 0;
}
