/* Wrong arguments of every kind give the class of error that the standard names, through the error handler,
   and leave the program able to go on. MPI-5.0: MPI Environmental Management, Error Codes and Classes. */
#include "check.h"
#include <stdint.h>

static int value[4], flag, number;
static MPI_Request request;
static MPI_Status status;
static MPI_Comm comm, made;
static MPI_Group group;
static MPI_Datatype type;
static MPI_Op op;
static MPI_Message message;

#define NO_COMM ((MPI_Comm)(uintptr_t)0xdeadbeef0)
#define NO_TYPE ((MPI_Datatype)(uintptr_t)0xdeadbeef0)
#define NO_OP ((MPI_Op)(uintptr_t)0xdeadbeef0)
#define NO_REQUEST ((MPI_Request)(uintptr_t)0xdeadbeef0)

/* The faults that calls with a buffer, a peer and a tag share; `more` ends the argument list. */
#define WRONG_MESSAGE(call, peer_tag, ...)                                                          \
    do {                                                                                            \
        GIVES(MPI_ERR_COMM, call(value, 1, MPI_INT, peer_tag, MPI_COMM_NULL __VA_ARGS__));          \
        GIVES(MPI_ERR_COMM, call(value, 1, MPI_INT, peer_tag, NO_COMM __VA_ARGS__));                \
        GIVES(MPI_ERR_COUNT, call(value, -1, MPI_INT, peer_tag, comm __VA_ARGS__));                 \
        GIVES(MPI_ERR_TYPE, call(value, 1, MPI_DATATYPE_NULL, peer_tag, comm __VA_ARGS__));         \
        GIVES(MPI_ERR_TYPE, call(value, 1, NO_TYPE, peer_tag, comm __VA_ARGS__));                   \
        GIVES(MPI_ERR_BUFFER, call(NULL, 1, MPI_INT, peer_tag, comm __VA_ARGS__));                  \
        GIVES(MPI_ERR_RANK, call(value, 1, MPI_INT, size, 0, comm __VA_ARGS__));                    \
        GIVES(MPI_ERR_RANK, call(value, 1, MPI_INT, -77, 0, comm __VA_ARGS__));                     \
        GIVES(MPI_ERR_TAG, call(value, 1, MPI_INT, 0, -77, comm __VA_ARGS__));                      \
    } while (0)

#define TO_FIRST 0, 0
#define AND_REQUEST , &request
#define AND_NO_REQUEST , NULL
#define AND_STATUS , &status
#define AND_NOTHING

static void messages(void) {
    WRONG_MESSAGE(MPI_Send, TO_FIRST, AND_NOTHING);
    WRONG_MESSAGE(MPI_Ssend, TO_FIRST, AND_NOTHING);
    WRONG_MESSAGE(MPI_Rsend, TO_FIRST, AND_NOTHING);
    WRONG_MESSAGE(MPI_Bsend, TO_FIRST, AND_NOTHING);
    WRONG_MESSAGE(MPI_Send_c, TO_FIRST, AND_NOTHING);
    WRONG_MESSAGE(MPI_Recv, TO_FIRST, AND_STATUS);
    WRONG_MESSAGE(MPI_Recv_c, TO_FIRST, AND_STATUS);
    WRONG_MESSAGE(MPI_Isend, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Issend, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Irsend, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Irecv, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Send_init, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Ssend_init, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Rsend_init, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Bsend_init, TO_FIRST, AND_REQUEST);
    WRONG_MESSAGE(MPI_Recv_init, TO_FIRST, AND_REQUEST);
    GIVES(MPI_ERR_ARG, MPI_Isend(value, 1, MPI_INT, TO_FIRST, comm AND_NO_REQUEST));
    GIVES(MPI_ERR_ARG, MPI_Recv_init(value, 1, MPI_INT, TO_FIRST, comm AND_NO_REQUEST));
    GIVES(MPI_ERR_RANK, MPI_Send(value, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm));
    GIVES(MPI_ERR_TAG, MPI_Send(value, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
    GIVES(MPI_ERR_RANK, MPI_Probe(size, 0, comm, &status));
    GIVES(MPI_ERR_TAG, MPI_Iprobe(0, -77, comm, &flag, &status));
    GIVES(MPI_ERR_COMM, MPI_Mprobe(0, 0, MPI_COMM_NULL, &message, &status));
    GIVES(MPI_ERR_ARG, MPI_Iprobe(0, 0, comm, NULL, &status));
    GIVES(MPI_ERR_RANK, MPI_Sendrecv(value, 1, MPI_INT, size, 0, value + 1, 1, MPI_INT, 0, 0, comm, &status));
    GIVES(MPI_ERR_COUNT, MPI_Sendrecv(value, 1, MPI_INT, 0, 0, value + 1, -1, MPI_INT, 0, 0, comm, &status));
    GIVES(MPI_ERR_TYPE, MPI_Sendrecv_replace(value, 1, MPI_DATATYPE_NULL, 0, 0, 0, 0, comm, &status));
}

static void requests(void) {
    MPI_Request wrong = NO_REQUEST;
    GIVES(MPI_ERR_REQUEST, MPI_Wait(&wrong, &status));
    GIVES(MPI_ERR_REQUEST, MPI_Test(&wrong, &flag, &status));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&wrong));
    GIVES(MPI_ERR_REQUEST, MPI_Cancel(&wrong));
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&wrong));
    GIVES(MPI_ERR_REQUEST, MPI_Waitall(1, &wrong, MPI_STATUSES_IGNORE));
    GIVES(MPI_ERR_REQUEST, MPI_Waitany(1, &wrong, &number, &status));
    GIVES(MPI_ERR_REQUEST, MPI_Startall(1, &wrong));
    GIVES(MPI_ERR_REQUEST, MPI_Request_get_status(wrong, &flag, &status));
    GIVES(MPI_ERR_ARG, MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
    CHECK(wrong == NO_REQUEST, "a failed call sets no output");
    flag = class_of(MPI_Wait(NULL, &status));
    CHECK(flag == MPI_ERR_REQUEST || flag == MPI_ERR_ARG, "class %d", flag);
}

/* Arguments that only this rank gets wrong: the check comes before any communication. */
static void collectives(void) {
    int *in = value, *out = value + 1;
    GIVES(MPI_ERR_COMM, MPI_Barrier(MPI_COMM_NULL));
    GIVES(MPI_ERR_COMM, MPI_Barrier(NO_COMM));
    GIVES(MPI_ERR_ARG, MPI_Ibarrier(comm, NULL));
    GIVES(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, size, comm));
    GIVES(MPI_ERR_ROOT, MPI_Bcast(in, 1, MPI_INT, -1, comm));
    GIVES(MPI_ERR_COUNT, MPI_Bcast_c(in, -1, MPI_INT, 0, comm));
    GIVES(MPI_ERR_TYPE, MPI_Ibcast(in, 1, NO_TYPE, 0, comm, &request));
    GIVES(MPI_ERR_BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, comm));
    GIVES(MPI_ERR_COUNT, MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, comm));
    GIVES(MPI_ERR_TYPE, MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    GIVES(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, comm));
    GIVES(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_INT, NO_OP, comm));
    GIVES(MPI_ERR_OP, MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_BAND, comm));
    GIVES(MPI_ERR_OP, MPI_Iallreduce(in, out, 1, MPI_INT, MPI_REPLACE, comm, &request));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(NULL, out, 1, MPI_INT, MPI_SUM, comm));
    GIVES(MPI_ERR_ROOT, MPI_Reduce_init(in, out, 1, MPI_INT, MPI_SUM, size, comm, MPI_INFO_NULL, &request));
    GIVES(MPI_ERR_COUNT, MPI_Gather(in, -1, MPI_INT, out, 1, MPI_INT, 0, comm));
    GIVES(MPI_ERR_ROOT, MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, comm));
    GIVES(MPI_ERR_ROOT, MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, -3, comm));
    GIVES(MPI_ERR_TYPE, MPI_Allgather(in, 1, MPI_DATATYPE_NULL, out, 1, MPI_INT, comm));
    GIVES(MPI_ERR_COUNT, MPI_Alltoall(in, 1, MPI_INT, out, -1, MPI_INT, comm));
    GIVES(MPI_ERR_INFO, MPI_Barrier_init(comm, (MPI_Info)(uintptr_t)0xdeadbeef0, &request));
}

static void communicators(void) {
    GIVES(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &number));
    GIVES(MPI_ERR_COMM, MPI_Comm_rank(NO_COMM, &number));
    GIVES(MPI_ERR_ARG, MPI_Comm_rank(comm, NULL));
    GIVES(MPI_ERR_COMM, MPI_Comm_dup(MPI_COMM_NULL, &made));
    GIVES(MPI_ERR_COMM, MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}));
    GIVES(MPI_ERR_COMM, MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}));
    GIVES(MPI_ERR_ARG, MPI_Comm_split(comm, -5, 0, &made));
    GIVES(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &number));
    GIVES(MPI_ERR_GROUP, MPI_Comm_create(comm, MPI_GROUP_NULL, &made));
    GIVES(MPI_ERR_ARG, MPI_Comm_group(comm, NULL));
    OK(MPI_Comm_group(comm, &group));
    GIVES(MPI_ERR_RANK, MPI_Group_incl(group, 1, &(int){-1}, &group));
    OK(MPI_Group_free(&group));
}

static void types_and_operations(void) {
    GIVES(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &number));
    GIVES(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &type));
    GIVES(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, NO_TYPE, &type));
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&(MPI_Datatype){MPI_INT}));
    GIVES(MPI_ERR_OP, MPI_Op_free(&(MPI_Op){MPI_SUM}));
    GIVES(MPI_ERR_OP, MPI_Op_free(&(MPI_Op){MPI_OP_NULL}));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    GIVES(MPI_ERR_TYPE, MPI_Send(value, 1, type, 0, 0, comm));
    OK(MPI_Type_free(&type));
    GIVES(MPI_ERR_ARG, MPI_Op_create(NULL, 1, &op));
    GIVES(MPI_ERR_TYPE, MPI_Get_count(&status, MPI_DATATYPE_NULL, &number));
}

int main(int argc, char **argv) {
    int sum;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    messages();
    requests();
    collectives();
    communicators();
    types_and_operations();
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
    return end();
}
