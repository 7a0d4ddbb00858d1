/* What may not be done with requests gives MPI_ERR_REQUEST and leaves them as they were.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
   Nonblocking and Persistent Collective Operations. */
#include "sorts.h"

/* An active collective, even one that is over and not completed, can be neither cancelled nor freed. */
static void misuse_of_collective(MPI_Comm comm, int sort, int lifetime) {
    Collective it = collective(comm, sort, 100, size - 1);
    MPI_Request request;
    fill(&it, 0);
    call(&it, lifetime, &request);
    for (int round = 0; round < (lifetime == PERSISTENT ? 3 : 1); round++) {
        if (lifetime == PERSISTENT) {
            fill(&it, round);
            OK(MPI_Start(&request));
        }
        for (int looks = 0, over = 0; looks < 2; looks++) {
            MPI_Request before = request;
            GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
            GIVES(MPI_ERR_REQUEST, MPI_Request_free(&request));
            GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
            GIVES(MPI_ERR_REQUEST, MPI_Startall(1, &request));
            CHECK(request == before, "the request is what it was");
            while (!over)
                OK(MPI_Request_get_status(request, &over, MPI_STATUS_IGNORE));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK((request != MPI_REQUEST_NULL) == (lifetime == PERSISTENT), "only persistent requests stay");
        verify(&it, round);
    }
    if (lifetime == PERSISTENT) {
        GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
        OK(MPI_Request_free(&request));
    }
    discard(&it);
}

int main(int argc, char **argv) {
    int value = -1;
    MPI_Request request, freed;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    request = MPI_REQUEST_NULL;
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));

    OK(MPI_Irecv(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    OK(MPI_Send(&rank, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    freed = request;
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(value, left);
    GIVES(MPI_ERR_REQUEST, MPI_Wait(&freed, MPI_STATUS_IGNORE));

    OK(MPI_Recv_init(&value, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &request));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&request));
    freed = request;
    OK(MPI_Request_free(&request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&freed));

    MPI_Comm comms[COMMS];
    int made = make_comms(comms);
    for (int k = 0; k < made * SORTS; k++) {
        misuse_of_collective(comms[k % made], k / made, NONBLOCKING);
        misuse_of_collective(comms[k % made], k / made, PERSISTENT);
    }
    free_comms(comms, made);
    return end();
}
