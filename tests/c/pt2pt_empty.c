/* A buffer without data may lie anywhere, at address 1 too, where empty slices of Rust lie and which is
   MPI_IN_PLACE; where that has a meaning, it has it for empty buffers as well.
   MPI-5.0: Point-to-Point Communication, Message Data; Application Binary Interface, Buffer Address Constants. */
#include "check.h"

static char *const PLACES[] = {NULL, (char *)1, (char *)2, (char *)8};

static void messages(void *at) {
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Isend(at, 0, MPI_BYTE, 0, 5, self, &request));
    OK(MPI_Recv(at, 0, MPI_BYTE, 0, 5, self, &status));
    check_status(&status, 0, 5, MPI_BYTE, 0);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(at, 0, MPI_INT, 0, 6, self, &request));
    OK(MPI_Ssend(at, 0, MPI_BYTE, 0, 6, self));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Bsend(at, 0, MPI_BYTE, MPI_PROC_NULL, 0, self));
    OK(MPI_Send_init(at, 0, MPI_BYTE, 0, 0, self, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Recv_init(at, 0, MPI_BYTE, 0, 0, self, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Sendrecv(at, 0, MPI_BYTE, 0, 0, at, 0, MPI_BYTE, 0, 0, self, MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv_replace(at, 0, MPI_BYTE, 0, 0, 0, 0, self, MPI_STATUS_IGNORE));

    /* The message of a matched probe. */
    MPI_Message message;
    OK(MPI_Isend(at, 0, MPI_BYTE, 0, 7, self, &request));
    OK(MPI_Mprobe(0, 7, self, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(at, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Elements of no bytes, as those of an empty struct. */
static void no_bytes(void *at) {
    MPI_Datatype nothing;
    MPI_Request request;
    OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    OK(MPI_Type_commit(&nothing));
    OK(MPI_Isend(at, 3, nothing, 0, 5, MPI_COMM_SELF, &request));
    OK(MPI_Recv(at, 3, nothing, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Bcast(at, 3, nothing, 0, MPI_COMM_WORLD));
    OK(MPI_Type_free(&nothing));
}

static void collectives(void *at, const int *zeros) {
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype types[8];
    MPI_Request request;
    char byte = 0;
    for (int i = 0; i < size; i++)
        types[i] = MPI_BYTE;
    OK(MPI_Bcast(at, 0, MPI_BYTE, 0, world));
    OK(MPI_Ibcast(at, 0, MPI_BYTE, 0, world, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Bcast_init(at, 0, MPI_BYTE, 0, world, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));

    /* What is received never lies in place. */
    OK(MPI_Allgather(&byte, 0, MPI_BYTE, at, 0, MPI_BYTE, world));
    OK(MPI_Allgatherv(&byte, 0, MPI_BYTE, at, zeros, zeros, MPI_BYTE, world));
    OK(MPI_Allreduce(&byte, at, 0, MPI_BYTE, MPI_BOR, world));
    OK(MPI_Alltoall(&byte, 0, MPI_BYTE, at, 0, MPI_BYTE, world));
    OK(MPI_Alltoallv(&byte, zeros, zeros, MPI_BYTE, at, zeros, zeros, MPI_BYTE, world));
    OK(MPI_Alltoallw(&byte, zeros, zeros, types, at, zeros, zeros, types, world));
    OK(MPI_Gather(&byte, 0, MPI_BYTE, at, 0, MPI_BYTE, 0, world));
    OK(MPI_Gatherv(&byte, 0, MPI_BYTE, at, zeros, zeros, MPI_BYTE, 0, world));
    OK(MPI_Reduce(&byte, at, 0, MPI_BYTE, MPI_BOR, 0, world));
    OK(MPI_Scatter(at, 0, MPI_BYTE, &byte, 0, MPI_BYTE, 0, world));
    OK(MPI_Scatterv(at, zeros, zeros, MPI_BYTE, &byte, 0, MPI_BYTE, 0, world));

    /* Of what is sent, only the root may say that it does. */
    OK(MPI_Gather(rank == 0 ? &byte : at, 0, MPI_BYTE, NULL, 0, MPI_BYTE, 0, world));
    OK(MPI_Reduce(rank == 0 ? &byte : at, NULL, 0, MPI_BYTE, MPI_BOR, 0, world));
    OK(MPI_Scatter(NULL, 0, MPI_BYTE, rank == 0 ? &byte : at, 0, MPI_BYTE, 0, world));

    /* Where it is legal it has its meaning, which here makes no difference. */
    OK(MPI_Allgather(at, 0, MPI_BYTE, at, 0, MPI_BYTE, world));
    OK(MPI_Allreduce(at, at, 0, MPI_BYTE, MPI_BOR, world));
    OK(MPI_Alltoall(at, 0, MPI_BYTE, at, 0, MPI_BYTE, world));
    OK(MPI_Gather(at, 0, MPI_BYTE, at, 0, MPI_BYTE, 0, world));
    OK(MPI_Reduce_local(at, at, 0, MPI_BYTE, MPI_BOR));
}

static void packing(void *at) {
    MPI_Aint place = 0;
    int position = 0;
    char byte[1];
    OK(MPI_Pack(at, 0, MPI_BYTE, byte, 1, &position, MPI_COMM_SELF));
    OK(MPI_Pack(byte, 0, MPI_BYTE, at, 0, &position, MPI_COMM_SELF));
    OK(MPI_Unpack(at, 0, &position, byte, 0, MPI_BYTE, MPI_COMM_SELF));
    OK(MPI_Unpack(byte, 0, &position, at, 0, MPI_BYTE, MPI_COMM_SELF));
    OK(MPI_Pack_external("external32", at, 0, MPI_BYTE, at, 0, &place));
    OK(MPI_Unpack_external("external32", at, 0, &place, at, 0, MPI_BYTE));
    EQUAL(position, 0);
}

/* In place wins: what the others send arrives although the root's own count is 0. */
static void in_place_wins(void) {
    int gathered[8] = {0};
    gathered[rank] = rank + 1;
    OK(MPI_Allgather((char *)1, 0, MPI_BYTE, gathered, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        EQUAL(gathered[i], i + 1);
}

int main(int argc, char **argv) {
    int zeros[8] = {0};
    begin(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        messages(PLACES[i]);
        no_bytes(PLACES[i]);
        collectives(PLACES[i], zeros);
        packing(PLACES[i]);
    }
    in_place_wins();
    return end();
}
