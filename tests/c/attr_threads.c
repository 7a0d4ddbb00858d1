/* Threads that set the same attribute come one after the other: each value is deleted once, and none is refused.
   MPI-5.0: External Interfaces, MPI and Threads; Groups, Contexts, Communicators, and Caching, Caching. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, ROUNDS = 5000 };

static atomic_int deleted;
static int keyval;

static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void *set(void *value) {
    for (int round = 0; round < ROUNDS; round++)
        OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, value));
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    joined();
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keyval, NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, set, &keyval) == 0, "a thread");
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0, "its end");
    EQUAL(deleted, THREADS * ROUNDS - 1);
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    EQUAL(deleted, THREADS * ROUNDS);
    GIVES(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    return end();
}
