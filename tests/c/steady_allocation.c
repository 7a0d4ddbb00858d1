/* Once warm, starting and completing persistent requests, short messages and short blocking collectives
   allocate no memory: the program's own malloc counts the library's calls. Queues may still grow to a new
   greatest length where ranks run at different speeds, so that most rounds count, not all. */
#include "check.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static long allocations;

void *malloc(size_t bytes) {
    allocations++;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    allocations++;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
    allocations++;
    return __libc_realloc(old, bytes);
}

static double mine, sum;
static int value;

static void exchange(MPI_Request *requests) {
    for (int i = 0; i < 3; i++) {
        OK(MPI_Start(&requests[i]));
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
    }
    OK(MPI_Startall(2, requests + 3));
    OK(MPI_Waitall(2, requests + 3, MPI_STATUSES_IGNORE));
    if (rank % 2 == 0 && rank + 1 < size) {
        OK(MPI_Send(&mine, 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD));
        OK(MPI_Recv(&sum, 1, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (rank % 2) {
        OK(MPI_Recv(&sum, 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(&mine, 1, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD));
    }
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    MPI_Request requests[5];
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Bcast_init(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]));
    OK(MPI_Recv_init(&value, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Send_init(&rank, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &requests[4]));
    for (int round = 0; round < 100; round++)
        exchange(requests);
    CHECK(allocations > 0, "the counter counts");
    int without = 0;
    for (int round = 0; round < 500; round++) {
        long before = allocations;
        exchange(requests);
        without += allocations == before;
    }
    CHECK(without > 480, "only %d of 500 rounds did not allocate", without);
    for (int i = 0; i < 5; i++)
        OK(MPI_Request_free(&requests[i]));
    return end();
}
