/* Threads make communicators at the same time, of the same groups in other orders, told apart by nothing but the
   function and its tag.
   MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_CREATE_GROUP, MPI_COMM_CREATE_FROM_GROUP, MPI_INTERCOMM_CREATE. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 5, ROUNDS = 100 };

static MPI_Group world, backwards;
static MPI_Comm half;

/* The members are in this order, and each hears from its neighbours. */
static void check_order(MPI_Comm comm, int is_backwards) {
    int mine, left = -1, ranks[64];
    OK(MPI_Comm_rank(comm, &mine));
    EQUAL(mine, is_backwards ? size - 1 - rank : rank);
    OK(MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        EQUAL(ranks[i], is_backwards ? size - 1 - i : i);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (mine + 1) % size, 3, &left, 1, MPI_INT, (mine + size - 1) % size, 3, comm,
                    MPI_STATUS_IGNORE));
    EQUAL(left, ranks[(mine + size - 1) % size]);
    OK(MPI_Comm_free(&comm));
}

static void from_group(int is_backwards) {
    /* The first 31 bits of the FNV-1a hashes of both, with two more zero bytes, are the same. */
    static const char *const tags[] = {"tag 89469", "tag 493000"};
    MPI_Comm comm;
    OK(MPI_Comm_create_from_group(is_backwards ? backwards : world, tags[is_backwards], MPI_INFO_NULL,
                                  MPI_ERRORS_RETURN, &comm));
    check_order(comm, is_backwards);
}

static void of_group(int is_backwards) {
    MPI_Comm comm;
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, is_backwards ? backwards : world, is_backwards, &comm));
    check_order(comm, is_backwards);
}

/* With the tag and the peer of `of_group`. */
static void between(void) {
    int remotes;
    MPI_Comm inter;
    if (size == 1)
        return;
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter));
    OK(MPI_Comm_remote_size(inter, &remotes));
    EQUAL(remotes, (size + rank % 2) / 2);
    OK(MPI_Comm_free(&inter));
}

static void *make(void *number) {
    for (int round = 0; round < ROUNDS; round++)
        switch (*(int *)number) {
        case 0:
        case 1:
            from_group(*(int *)number);
            break;
        case 2:
        case 3:
            of_group(*(int *)number - 2);
            break;
        default:
            between();
        }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[THREADS];
    int numbers[THREADS], ranks[64], provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    joined();
    for (int i = 0; i < size; i++)
        ranks[i] = size - 1 - i;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, size, ranks, &backwards));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, make, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(MPI_Comm_free(&half));
    OK(MPI_Group_free(&backwards));
    OK(MPI_Group_free(&world));
    return end();
}
