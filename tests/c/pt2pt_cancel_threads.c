/* A thread waits for a message from somebody who leaves, and another thread cancels that: a program that could go on is
   not ended. MPI-5.0: Point-to-Point Communication, Cancel; External Interfaces, MPI and Threads. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

/* Longer than a wait takes to see who has left. */
enum { LATER_US = 500000 };

static MPI_Request requests[2];
static MPI_Status status;

static void *wait_for_one(void *unused) {
    (void)unused;
    OK(MPI_Wait(&requests[0], &status));
    return NULL;
}

static void *wait_for_any(void *unused) {
    (void)unused;
    int index;
    OK(MPI_Waitany(2, requests, &index, &status));
    return NULL;
}

static void listen(void *(*wait)(void *), int source) {
    pthread_t listener;
    int flag, received[2];
    for (int i = 0; i < 2; i++)
        OK(MPI_Irecv(&received[i], 1, MPI_INT, source, i, MPI_COMM_WORLD, &requests[i]));
    CHECK(pthread_create(&listener, NULL, wait, NULL) == 0, "there is a thread");
    usleep(LATER_US);
    for (int i = 0; i < 2; i++) {
        MPI_Request copy = requests[i];
        OK(MPI_Cancel(&copy));
    }
    pthread_join(listener, NULL);
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag, "it is cancelled");
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (rank == 0) {
        listen(wait_for_one, size - 1);
        listen(wait_for_any, size - 1);
        listen(wait_for_one, MPI_ANY_SOURCE);
        printf("passed on %d\n", size);
    }
    return MPI_Finalize();
}
