/* Constructors refuse what makes no datatype, and leave the handle alone; predefined datatypes cannot be freed; what
   is not committed cannot be communicated. MPI-5.0: Datatypes, Commit and Free, Datatype Constructors. */
#include "check.h"

static MPI_Datatype made;
static const MPI_Datatype untouched = MPI_CHAR;

/* Both widths of the call. */
#define REFUSED(class, call)                                                                        \
    do {                                                                                            \
        made = untouched;                                                                           \
        GIVES(class, call);                                                                         \
        CHECK(made == untouched, "the handle was changed");                                         \
    } while (0)

static void check_blocks(void) {
    int lengths[] = {1, 2}, places[] = {0, 4}, negative[] = {1, -1};
    MPI_Aint bytes[] = {0, 16};
    MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
    REFUSED(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_vector(1, -1, 1, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_indexed(-1, lengths, places, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_indexed(2, NULL, places, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_indexed(2, lengths, NULL, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_indexed(2, negative, places, MPI_INT, &made));
    REFUSED(MPI_ERR_TYPE, MPI_Type_indexed(2, lengths, places, MPI_DATATYPE_NULL, &made));
    GIVES(MPI_ERR_ARG, MPI_Type_indexed(2, lengths, places, MPI_INT, NULL));
    REFUSED(MPI_ERR_COUNT, MPI_Type_create_hindexed(-1, lengths, bytes, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_hindexed(2, negative, bytes, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_create_indexed_block(-1, 1, places, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_indexed_block(2, -1, places, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_indexed_block(2, 1, NULL, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_create_hindexed_block(-1, 1, bytes, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_hindexed_block(2, -1, bytes, MPI_INT, &made));
    REFUSED(MPI_ERR_COUNT, MPI_Type_create_struct(-1, lengths, bytes, types, &made));
    REFUSED(MPI_ERR_TYPE, MPI_Type_create_struct(2, lengths, bytes, types, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_struct(1, lengths, bytes, NULL, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_struct(2, negative, bytes, (MPI_Datatype[]){MPI_INT, MPI_INT}, &made));
    REFUSED(MPI_ERR_TYPE, MPI_Type_dup(MPI_DATATYPE_NULL, &made));
    REFUSED(MPI_ERR_TYPE, MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 4, &made));
}

static void check_subarrays(void) {
    int sizes[] = {4, 4}, parts[] = {2, 5}, starts[] = {0, 0}, none[] = {0, 1}, far[] = {3, 0};
    int fitting[] = {2, 2}, negative[] = {-1, 0};
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(0, sizes, fitting, starts, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, none, fitting, starts, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, none, starts, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, fitting, far, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, fitting, negative, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, sizes, fitting, starts, 77, MPI_INT, &made));
    REFUSED(MPI_ERR_ARG, MPI_Type_create_subarray(2, NULL, fitting, starts, MPI_ORDER_C, MPI_INT, &made));
    REFUSED(MPI_ERR_TYPE, MPI_Type_create_subarray(2, sizes, fitting, starts, MPI_ORDER_C, MPI_DATATYPE_NULL,
        &made));
}

#define DARRAY(of, at, sizes, distribs, dargs, grid, order)                                         \
    MPI_Type_create_darray(of, at, 2, sizes, distribs, dargs, grid, order, MPI_INT, &made)

static void check_darrays(void) {
    int sizes[] = {8, 9}, none[] = {0, 9}, grid[] = {2, 3}, few[] = {2, 2}, zero[] = {0, 3}, small[] = {1, 1};
    int distribs[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, unknown[] = {77, MPI_DISTRIBUTE_BLOCK};
    int not_spread[] = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK};
    int dargs[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, negative[] = {-3, 1};
    OK(DARRAY(6, 5, sizes, distribs, dargs, grid, MPI_ORDER_C));
    OK(MPI_Type_free(&made));
    REFUSED(MPI_ERR_ARG, DARRAY(0, 0, sizes, distribs, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 6, sizes, distribs, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, -1, sizes, distribs, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, none, distribs, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, unknown, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, distribs, negative, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, distribs, small, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, distribs, dargs, few, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, distribs, dargs, zero, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, not_spread, dargs, grid, MPI_ORDER_C));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, distribs, dargs, grid, 0));
    REFUSED(MPI_ERR_ARG, DARRAY(6, 0, sizes, NULL, dargs, grid, MPI_ORDER_C));
}

static void check_free(void) {
    MPI_Datatype type = MPI_INT, gone;
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&type));
    CHECK(type == MPI_INT, "predefined datatypes stay");
    type = MPI_DATATYPE_NULL;
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&type));
    GIVES(MPI_ERR_TYPE, MPI_Type_commit(&type));
    GIVES(MPI_ERR_ARG, MPI_Type_free(NULL));
    GIVES(MPI_ERR_ARG, MPI_Type_commit(NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    gone = type;
    OK(MPI_Type_free(&type));
    GIVES(MPI_ERR_TYPE, MPI_Type_commit(&gone));
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&gone));
    type = MPI_INT;
    OK(MPI_Type_commit(&type));
}

static int values[64], others[64], counts[8], places[8];
static MPI_Datatype types[8];
static MPI_Request request;

#define REFUSED_BY(call) GIVES(MPI_ERR_TYPE, call)
#define ALL_MODES(end, ...)                                                                         \
    REFUSED_BY(MPI_Send##end(__VA_ARGS__));                                                         \
    REFUSED_BY(MPI_Ssend##end(__VA_ARGS__));                                                        \
    REFUSED_BY(MPI_Bsend##end(__VA_ARGS__));                                                        \
    REFUSED_BY(MPI_Rsend##end(__VA_ARGS__))

static void check_messages(MPI_Datatype type) {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Status *status = MPI_STATUS_IGNORE;
    ALL_MODES(, values, 1, type, rank, 0, comm);
    ALL_MODES(_c, values, 1, type, rank, 0, comm);
    ALL_MODES(_init, values, 1, type, rank, 0, comm, &request);
    REFUSED_BY(MPI_Isend(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Issend(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Ibsend(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Irsend(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Recv(values, 1, type, rank, 0, comm, status));
    REFUSED_BY(MPI_Irecv(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Recv_init(values, 1, type, rank, 0, comm, &request));
    REFUSED_BY(MPI_Sendrecv(values, 1, type, rank, 0, others, 2, MPI_INT, rank, 0, comm, status));
    REFUSED_BY(MPI_Sendrecv(values, 2, MPI_INT, rank, 0, others, 1, type, rank, 0, comm, status));
    REFUSED_BY(MPI_Sendrecv_replace(values, 1, type, rank, 0, rank, 0, comm, status));
}

#define IN_ALL_LIFETIMES(name, nonblocking, ...)                                                    \
    do {                                                                                            \
        REFUSED_BY(name(__VA_ARGS__, comm));                                                        \
        REFUSED_BY(nonblocking(__VA_ARGS__, comm, &request));                                       \
        REFUSED_BY(name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request));                        \
    } while (0)

static void check_collectives(MPI_Datatype type) {
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Datatype good = MPI_INT;
    IN_ALL_LIFETIMES(MPI_Allgather, MPI_Iallgather, values, 1, type, others, 2, good);
    IN_ALL_LIFETIMES(MPI_Allgather, MPI_Iallgather, values, 2, good, others, 1, type);
    IN_ALL_LIFETIMES(MPI_Allgatherv, MPI_Iallgatherv, values, 1, type, others, counts, places, good);
    IN_ALL_LIFETIMES(MPI_Alltoall, MPI_Ialltoall, values, 1, type, others, 2, good);
    IN_ALL_LIFETIMES(MPI_Alltoall, MPI_Ialltoall, values, 2, good, others, 1, type);
    IN_ALL_LIFETIMES(MPI_Alltoallv, MPI_Ialltoallv, values, counts, places, type, others, counts, places, good);
    IN_ALL_LIFETIMES(MPI_Alltoallw, MPI_Ialltoallw, values, counts, places, types, others, counts, places, types);
    IN_ALL_LIFETIMES(MPI_Bcast, MPI_Ibcast, values, 1, type, 0);
    IN_ALL_LIFETIMES(MPI_Gather, MPI_Igather, values, 1, type, others, 2, good, 0);
    IN_ALL_LIFETIMES(MPI_Scatter, MPI_Iscatter, values, 2, good, others, 1, type, 0);
}

static void check_reductions(MPI_Datatype type, MPI_Op op) {
    MPI_Comm comm = MPI_COMM_WORLD;
    IN_ALL_LIFETIMES(MPI_Allreduce, MPI_Iallreduce, values, others, 1, type, op);
    IN_ALL_LIFETIMES(MPI_Reduce, MPI_Ireduce, values, others, 1, type, op, 0);
    REFUSED_BY(MPI_Reduce_local(values, others, 1, type, op));
}

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

/* The datatype is a mistake before it is committed, and none behind. */
static void check_uncommitted(void) {
    MPI_Datatype type;
    MPI_Op op;
    char packed[64];
    int position = 0;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    OK(MPI_Op_create(nothing, 1, &op));
    for (int i = 0; i < 8; i++)
        types[i] = type, counts[i] = 1;
    check_messages(type);
    check_collectives(type);
    check_reductions(type, op);
    REFUSED_BY(MPI_Pack(values, 1, type, packed, 64, &position, MPI_COMM_WORLD));
    REFUSED_BY(MPI_Unpack(packed, 64, &position, values, 1, type, MPI_COMM_WORLD));
    OK(MPI_Type_commit(&type));
    OK(MPI_Pack(values, 1, type, packed, 64, &position, MPI_COMM_WORLD));
    OK(MPI_Type_free(&type));
    OK(MPI_Op_free(&op));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_blocks();
    check_subarrays();
    check_darrays();
    check_free();
    check_uncommitted();
    return end();
}
