/* Waits for a rank that has left, beside a thread that never calls MPI, as those of numerical libraries do.
   MPI-5.0: External Interfaces, MPI and Threads. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static void *compute(void *nothing) {
    pause();
    return nothing;
}

int main(int argc, char **argv) {
    int given, value;
    pthread_t thread;
    MPI_Request request;
    CHECK(pthread_create(&thread, NULL, compute, NULL) == 0, "a thread");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    joined();
    if (rank == 0) {
        OK(MPI_Irecv(&value, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    MPI_Finalize();
    return 0;
}
