/* Threads that spawn at the same time, each on a communicator of its own.
   MPI-5.0: Process Initialization, Creation, and Management; External Interfaces, MPI and Threads. */
#include <pthread.h>

#include "spawned.h"

enum { THREADS = 4, ROUNDS = 3 };

static char *program;
static MPI_Comm comms[THREADS];

static void *work(void *of) {
    int thread = (int)(long)of;
    for (int round = 0; round < ROUNDS; round++) {
        char number[12], *arguments[] = {"--as", number, NULL};
        MPI_Comm inter;
        int count = 1 + (thread + round) % 2, found;
        snprintf(number, sizeof number, "%d", thread);
        OK(MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, thread % size, comms[thread], &inter,
                          MPI_ERRCODES_IGNORE));
        check_sizes(inter, size, count);
        OK(MPI_Recv(&found, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE));
        EQUAL(found, thread);
        greet_all(inter, thread);
        OK(MPI_Comm_disconnect(&inter));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    begin_role(&argc, &argv, MPI_THREAD_MULTIPLE);
    program = argv[0];
    if (parent != MPI_COMM_NULL) {
        int others, number = atoi(role);
        OK(MPI_Comm_remote_size(parent, &others));
        for (int r = 0; r < others && rank == 0; r++)
            OK(MPI_Send(&number, 1, MPI_INT, r, 3, parent));
        greet_all(parent, number);
        return leave_parent();
    }
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    for (long t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)t) == 0, "the system has no thread");
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_free(&comms[t]));
    return end();
}
