/* Nobody leaves a barrier before everybody has entered it, in every lifetime.
   MPI-5.0: Collective Communication, Barrier Synchronization. */
#include "lifetimes.h"

static int arrived, after;

/* Everybody tells the next rank that it has arrived, by a message that is sent before the barrier. */
static void enter(int round) {
    static MPI_Request told = MPI_REQUEST_NULL;
    OK(MPI_Wait(&told, MPI_STATUS_IGNORE));
    arrived = round;
    OK(MPI_Isend(&arrived, 1, MPI_INT, (rank + 1) % size, round, MPI_COMM_WORLD, &told));
    OK(MPI_Wait(&told, MPI_STATUS_IGNORE));
}

static void leave(int round) {
    int found = 0;
    while (!found)
        OK(MPI_Iprobe((rank + size - 1) % size, round, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    OK(MPI_Recv(&after, 1, MPI_INT, (rank + size - 1) % size, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(after, round);
}

/* The last rank comes late; without its arrival the others must not be done. */
static void wait_for_the_last(void) {
    MPI_Request barrier;
    int done = 0;
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier));
    for (int round = 0; round < 50 && size > 1; round++) {
        if (rank == size - 1) {
            for (int other = 0; other < size - 1; other++)
                OK(MPI_Recv(&after, 1, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Start(&barrier));
        } else {
            OK(MPI_Start(&barrier));
            OK(MPI_Test(&barrier, &done, MPI_STATUS_IGNORE));
            CHECK(!done, "the last rank has not started it");
            OK(MPI_Send(&rank, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD));
        }
        OK(MPI_Wait(&barrier, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&barrier));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < 20; i++)
        IN_THREE_LIFETIMES(enter, leave, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, MPI_COMM_WORLD);
    wait_for_the_last();
    return end();
}
