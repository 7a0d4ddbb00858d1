/* Threads that spawn, and disconnect from what they have spawned, do not take from each other the memory of a job that
   one of them is about to meet. The child waits for no more than one of its parents: it may have ended before the
   others have a communicator with it. MPI-5.0: Process Initialization, Creation, and Management, Releasing Connections;
   External Interfaces, MPI and Threads. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 2, ROUNDS = 40 };

static char *program;

static void *spawn(void *comm) {
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm child;
        OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, *(MPI_Comm *)comm, &child, MPI_ERRCODES_IGNORE));
        if (rank == 0)
            OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, child, MPI_STATUS_IGNORE));
        OK(MPI_Comm_disconnect(&child));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    MPI_Comm parent, comms[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    joined();
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        OK(MPI_Send(NULL, 0, MPI_CHAR, 0, 1, parent));
        OK(MPI_Comm_disconnect(&parent));
        MPI_Finalize();
        return 0;
    }
    program = argv[0];
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        CHECK(pthread_create(&threads[i], NULL, spawn, &comms[i]) == 0, "a thread");
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0, "its end");
        OK(MPI_Comm_free(&comms[i]));
    }
    return end();
}
