/* Four threads of each rank communicate at the same time, each on a communicator of its own, by messages and
   by collectives of all lifetimes. MPI-5.0: Process Initialization, MPI and Threads. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100 };

static MPI_Comm comms[THREADS];

static void *work(void *argument) {
    int thread = (int)(long)argument, right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm comm = comms[thread];
    MPI_Request persistent, receive;
    int mine = 0, sum, value, other;
    OK(MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &persistent));
    for (int round = 0; round < ROUNDS; round++) {
        mine = 1000 * thread + round;
        OK(MPI_Irecv(&value, 1, MPI_INT, left, round, comm, &receive));
        OK(MPI_Send(&mine, 1, MPI_INT, right, round, comm));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EQUAL(value, mine);
        OK(MPI_Start(&persistent));
        OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        EQUAL(sum, size * mine);
        other = rank == round % size ? mine : -1;
        OK(MPI_Bcast(&other, 1, MPI_INT, round % size, comm));
        EQUAL(other, mine);
        OK(MPI_Iallreduce(MPI_IN_PLACE, &other, 1, MPI_INT, MPI_MAX, comm, &receive));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        EQUAL(other, mine);
    }
    OK(MPI_Request_free(&persistent));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    joined();
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (long i = 0; i < THREADS; i++)
        EQUAL(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        EQUAL(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return end();
}
