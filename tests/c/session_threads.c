/* Threads open, use and close sessions of their own at the same time. */
#include "session.h"
#include <pthread.h>

static MPI_Session session;

#define THREADS 4
#define ROUNDS 50

static void *use(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Session made;
        MPI_Group group;
        MPI_Info info;
        int found;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
        OK(MPI_Group_from_session_pset(made, "mpi://SELF", &group));
        OK(MPI_Group_size(group, &found));
        EQUAL(found, 1);
        OK(MPI_Session_get_info(made, &info));
        OK(MPI_Info_free(&info));
        OK(MPI_Group_free(&group));
        OK(MPI_Session_finalize(&made));
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    session = opened();
    OK(MPI_Session_finalize(&session));
    return passed();
}
