/* Threads make, use and free datatypes at the same time, and get the same handle of what is predefined.
   MPI-5.0: Datatypes; External Interfaces, MPI and Threads. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 500, BLOCKS = 4, STRIDE = 5 };

/* Of each thread: what it got without a name. */
static MPI_Datatype unnamed[THREADS][3];
static pthread_barrier_t all_are_there;

static void check_pack(const double *from, MPI_Datatype type) {
    double packed[BLOCKS], into[BLOCKS * STRIDE];
    int position = 0;
    OK(MPI_Pack(from, 1, type, packed, sizeof packed, &position, MPI_COMM_WORLD));
    EQUAL(position, sizeof packed);
    position = 0;
    OK(MPI_Unpack(packed, sizeof packed, &position, into, 1, type, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCKS; i++)
        CHECK(into[i * STRIDE] == from[i * STRIDE], "block %d", i);
}

static void *use(void *argument) {
    long thread = (long)argument;
    double values[BLOCKS * STRIDE];
    for (int i = 0; i < BLOCKS * STRIDE; i++)
        values[i] = (double)(100 * thread + i);
    pthread_barrier_wait(&all_are_there);
    OK(MPI_Type_create_f90_real(15, 300, &unnamed[thread][0]));
    OK(MPI_Type_create_f90_integer(12, &unnamed[thread][1]));
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_LONG, &unnamed[thread][2]));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype vector, copy;
        OK(MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_DOUBLE, &vector));
        OK(MPI_Type_commit(&vector));
        OK(MPI_Type_dup(vector, &copy));
        OK(MPI_Type_free(&vector));
        check_pack(values, copy);
        OK(MPI_Type_free(&copy));
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    joined();
    pthread_barrier_init(&all_are_there, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < THREADS; i++)
        CHECK(memcmp(unnamed[i], unnamed[0], sizeof unnamed[0]) == 0, "thread %d has other handles", i);
    return end();
}
