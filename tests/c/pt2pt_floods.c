/* Who sends much more than its receiver asks for is held up, or keeps it: the receiver's memory is bounded, and comes
   back; programs that do not count on buffers end. Even ranks flood those after them.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication. */
#include "check.h"

#include <malloc.h>

enum { A, B, NEVER, EAGER = 16 << 10, LONG = 64 << 10, MIB = 1 << 20 };

/* What is kept at most (80 MiB), what it takes to find it, what rings hold; what is left of it, 16 MiB here. */
static const long kept = 112l * MIB;
static long left = 32l * MIB;
static long messages = 500000, shorts = 500000, longs = 3000;

static long resident(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[200];
    long kib = -1;
    while (fgets(line, sizeof line, file))
        sscanf(line, "RssAnon: %ld", &kib);
    fclose(file);
    return kib << 10;
}

static void check_rest(const char *what, long before) {
    /* What the C library keeps for itself is not counted, and depends on who ran when. */
    malloc_trim(0);
    long now = resident() - before;
    CHECK(now < left, "%s leaves %ld MiB", what, now / MIB);
}

/* Isends of one tag, then a blocking send of another one, which is received first. */
static void wanted_comes_last(int from, int to) {
    if (rank == from) {
        MPI_Request *requests = malloc(messages * sizeof *requests);
        long *values = malloc(messages * sizeof *values);
        for (long i = 0; i < messages; i++) {
            values[i] = i;
            OK(MPI_Isend(&values[i], 1, MPI_LONG, to, A, MPI_COMM_WORLD, &requests[i]));
        }
        OK(MPI_Send(&messages, 1, MPI_LONG, to, B, MPI_COMM_WORLD));
        OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
        free(values);
        free(requests);
    } else {
        long before = resident(), value;
        OK(MPI_Recv(&value, 1, MPI_LONG, from, B, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(value, messages);
        for (long i = 0; i < messages; i++) {
            OK(MPI_Recv(&value, 1, MPI_LONG, from, A, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EQUAL(value, i);
        }
        check_rest("what was wanted last", before);
    }
}

/* Isends, a collective in which no message is received, and then the receives. */
static void barrier_between(int from, int to, MPI_Comm pair) {
    long before = resident(), value = 1, sum;
    MPI_Request *requests = malloc(messages * sizeof *requests);
    for (long i = 0; rank == from && i < messages; i++)
        OK(MPI_Isend(&messages, 1, MPI_LONG, to, A, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Barrier(pair));
    OK(MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, pair));
    EQUAL(sum, 2);
    for (long i = 0; rank == to && i < messages; i++)
        OK(MPI_Recv(&value, 1, MPI_LONG, from, A, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == from)
        OK(MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE));
    free(requests);
    if (rank == to)
        check_rest("a barrier", before);
}

/* Blocking sends to who looks for something else for long. */
static void nobody_receives(int from, int to, long count, int bytes) {
    char *buffer = malloc(bytes);
    memset(buffer, 1, bytes);
    if (rank == from) {
        for (long i = 0; i < count; i++) {
            *(long *)buffer = i;
            OK(MPI_Send(buffer, bytes, MPI_BYTE, to, A, MPI_COMM_WORLD));
        }
    } else {
        long before = resident(), most = 0;
        for (long looks = 0; looks < count + 100000; looks++) {
            int flag;
            OK(MPI_Iprobe(from, NEVER, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            if (looks % 10000 == 0 && resident() - before > most)
                most = resident() - before;
        }
        CHECK(most < kept, "%d bytes take %ld MiB", bytes, most / MIB);
        for (long i = 0; i < count; i++) {
            MPI_Status status;
            OK(MPI_Recv(buffer, bytes, MPI_BYTE, from, A, MPI_COMM_WORLD, &status));
            check_status(&status, from, A, MPI_BYTE, bytes);
            EQUAL(*(long *)buffer, i);
            if (i % 10000 == 0 && resident() - before > most)
                most = resident() - before;
        }
        CHECK(most < kept, "%d bytes take %ld MiB", bytes, most / MIB);
        check_rest("a flood", before);
        if (shorts > 500000)
            printf("%d bytes: at most %ld MiB, %ld MiB afterwards\n", bytes, most / MIB, (resident() - before) / MIB);
    }
    free(buffer);
}

/* Once the flood is over, who sends waits for nobody: the first of two sends to each other is complete. */
static void sends_are_eager_again(int other) {
    long value = rank, received;
    for (int i = 0; i < 1000; i++) {
        OK(MPI_Send(&value, 1, MPI_LONG, other, A, MPI_COMM_WORLD));
        OK(MPI_Recv(&received, 1, MPI_LONG, other, A, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(received, other);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 3) { /* more than fits into the time of a test */
        messages = atol(argv[1]);
        shorts = atol(argv[2]);
        longs = atol(argv[3]);
        left *= 2; /* larger tables, and of the C library as much as those that were freed */
    }
    MPI_Comm pair;
    int from = rank & ~1, to = rank | 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, from, 0, &pair));
    if (to < size) {
        OK(MPI_Barrier(pair));
        wanted_comes_last(from, to);
        barrier_between(from, to, pair);
        nobody_receives(from, to, shorts, 8);
        nobody_receives(from, to, longs * (LONG / EAGER), EAGER);
        nobody_receives(from, to, longs, LONG);
        sends_are_eager_again(rank ^ 1);
    }
    OK(MPI_Comm_free(&pair));
    return end();
}
