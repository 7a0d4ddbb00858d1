/* Messages from and into memory of MPI_Alloc_mem, at odd places of it, up to its very end, which is freed and allocated
   again: what is received is what was sent last, whatever the memory was used for before.
   MPI-5.0: MPI Environmental Management, Memory Allocation. */
#include "check.h"
#include "random.h"

enum { BYTES = 3000001, ROUNDS = 60, WINDOW = 5, LIVES = 6 };

/* Memory of MPI's or of the C library's. */
typedef struct { unsigned char *base; int is_mpis; } Memory;

static Memory from, into;
static int next_rank, last_rank;

static Memory allocate(int is_mpis) {
    Memory memory = {NULL, is_mpis};
    if (is_mpis)
        OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory.base));
    else
        memory.base = malloc(BYTES);
    memset(memory.base, 0xA5, BYTES);
    return memory;
}

static void release(Memory memory) {
    memset(memory.base, 0x5A, BYTES);
    if (memory.is_mpis)
        OK(MPI_Free_mem(memory.base));
    else
        free(memory.base);
}

static unsigned char byte(int round, int sender, int i) {
    return (unsigned char)(round * 31 + sender * 17 + i * 7 + i / 251);
}

static void fill(unsigned char *at, int round, int bytes) {
    for (int i = 0; i < bytes; i++)
        at[i] = byte(round, rank, i);
}

static void verify(const unsigned char *at, int round, int bytes) {
    for (int i = 0; i < bytes; i++)
        CHECK(at[i] == byte(round, last_rank, i), "byte %d of %d in round %d", i, bytes, round);
}

/* A length, and where it begins in memory of `BYTES` bytes: often so that it ends with that. */
static int draw(Random *random, int *place) {
    static const int lengths[] = {16384, 16385, 100, 65536, 70001, 500000, 1048576, 1300001};
    int bytes = lengths[next(random, 8)] / (next(random, 3) ? 1 : 1 + next(random, 9));
    *place = next(random, 3) ? next(random, BYTES - bytes) : BYTES - bytes;
    return bytes;
}

/* One message to the next rank, overwritten as soon as that is allowed, and one from the last. */
static void exchange(int round, int way, int bytes, int out, int in) {
    MPI_Request requests[2];
    fill(from.base + out, round, bytes);
    if (way == 0) {
        OK(MPI_Sendrecv(from.base + out, bytes, MPI_BYTE, next_rank, round, into.base + in, bytes, MPI_BYTE, last_rank,
                        round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Irecv(into.base + in, bytes, MPI_BYTE, last_rank, round, MPI_COMM_WORLD, &requests[0]));
        if (way == 1)
            OK(MPI_Isend(from.base + out, bytes, MPI_BYTE, next_rank, round, MPI_COMM_WORLD, &requests[1]));
        else
            OK(MPI_Issend(from.base + out, bytes, MPI_BYTE, next_rank, round, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        memset(from.base + out, 0xFF, (size_t)bytes);
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    verify(into.base + in, round, bytes);
}

static void one_by_one(Random *random) {
    for (int round = 0; round < ROUNDS; round++) {
        int out, in, bytes = draw(random, &out);
        in = next(random, BYTES - bytes);
        exchange(round, next(random, 3), bytes, out, in);
    }
}

/* Persistent, with changed data; a shorter message than was asked for; and one with gaps. */
static void again_and_again(Random *random) {
    int bytes[WINDOW], step = BYTES / WINDOW;
    MPI_Request requests[2 * WINDOW];
    MPI_Status statuses[2 * WINDOW];
    for (int m = 0; m < WINDOW; m++) {
        bytes[m] = m == 0 ? 1000 : 20000 + next(random, step - 20000 - 1000);
        OK(MPI_Send_init(from.base + m * step + m, bytes[m], MPI_BYTE, next_rank, m, MPI_COMM_WORLD, &requests[m]));
        OK(MPI_Recv_init(into.base + m * step + 2 * m, bytes[m] + 100, MPI_BYTE, last_rank, m, MPI_COMM_WORLD,
                         &requests[WINDOW + m]));
    }
    for (int round = 0; round < 8; round++) {
        for (int m = 0; m < WINDOW; m++)
            fill(from.base + m * step + m, round + m, bytes[m]);
        OK(MPI_Startall(2 * WINDOW, requests));
        OK(MPI_Waitall(2 * WINDOW, requests, statuses));
        for (int m = 0; m < WINDOW; m++) {
            verify(into.base + m * step + 2 * m, round + m, bytes[m]);
            check_status(&statuses[WINDOW + m], last_rank, m, MPI_BYTE, bytes[m]);
        }
    }
    for (int m = 0; m < 2 * WINDOW; m++)
        OK(MPI_Request_free(&requests[m]));
}

/* A message that is too long for its receive: what fits comes. */
static void too_long(void) {
    MPI_Request request;
    fill(from.base + 3, 1, 200000);
    OK(MPI_Isend(from.base + 3, 200000, MPI_BYTE, next_rank, 9, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_TRUNCATE,
          MPI_Recv(into.base + 1, 99999, MPI_BYTE, last_rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    verify(into.base + 1, 1, 99999);
}

/* Every second block of 1000 bytes, on one side or on both. */
static void with_gaps(void) {
    MPI_Datatype blocks;
    MPI_Request request;
    enum { COUNT = 300, LENGTH = 1000 };
    OK(MPI_Type_vector(COUNT, LENGTH, 2 * LENGTH, MPI_BYTE, &blocks));
    OK(MPI_Type_commit(&blocks));
    fill(from.base, 3, COUNT * LENGTH);
    OK(MPI_Isend(from.base, COUNT * LENGTH, MPI_BYTE, next_rank, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(into.base + 5, 1, blocks, last_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Isend(into.base + 5, 1, blocks, last_rank, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(from.base + 1, COUNT * LENGTH, MPI_BYTE, next_rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT * LENGTH; i++)
        CHECK(from.base[1 + i] == byte(3, rank, i), "byte %d came back", i);
    OK(MPI_Type_free(&blocks));
}

/* Parts of one message from memory, and into it. */
static void in_parts(void) {
    enum { PARTS = 4, LENGTH = 300000 };
    MPI_Request requests[2];
    OK(MPI_Psend_init(from.base + 7, PARTS, LENGTH, MPI_BYTE, next_rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Precv_init(into.base + 2, PARTS, LENGTH, MPI_BYTE, last_rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[1]));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(2, requests));
        fill(from.base + 7, round, PARTS * LENGTH);
        for (int part = 0; part < PARTS; part++)
            OK(MPI_Pready((part + round) % PARTS, requests[0]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        verify(into.base + 2, round, PARTS * LENGTH);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    next_rank = (rank + 1) % size;
    last_rank = (rank + size - 1) % size;
    Random random = {42};
    for (int life = 0; life < LIVES; life++) {
        from = allocate(life % 3 != 2 || rank % 2);
        into = allocate(life % 2);
        one_by_one(&random);
        again_and_again(&random);
        too_long();
        with_gaps();
        in_parts();
        release(from);
        release(into);
    }
    return end();
}
