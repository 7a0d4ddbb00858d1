/* Threads with sessions of their own make communicators at the same time, told apart by their tags, and use them
   beside the world model. */
#include "session.h"
#include <pthread.h>

#define THREADS 3
#define ROUNDS 10

static void *use(void *number) {
    char tag[40];
    sprintf(tag, "oxmpi://tests/thread/%d", *(int *)number);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Session session;
        MPI_Group world;
        MPI_Comm comm;
        int sum;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
        OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, size * (size - 1) / 2);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&world));
        OK(MPI_Session_finalize(&session));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS], provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    joined();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, use, &numbers[i]);
    }
    for (int round = 0; round < ROUNDS; round++)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return end();
}
