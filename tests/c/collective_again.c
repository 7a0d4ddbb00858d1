/* Collectives called again and again with the same arguments and other data; and with arguments that look the same and
   mean something else, because a handle names something new. MPI-5.0: Collective Communication. */
#include "check.h"

enum { ROUNDS = 40, SPAN = 12 };

static int mine[SPAN], found[SPAN * 8]; /* no more than 8 ranks */

static void fill(int round) {
    for (int i = 0; i < SPAN; i++)
        mine[i] = 1000 * round + 10 * rank + i;
    for (int i = 0; i < SPAN * size; i++)
        found[i] = -1;
}

static int of_all(int round, int i) {
    return size * (1000 * round + i) + 10 * (size * (size - 1) / 2);
}

/* One call, blocking or not; the root changes now and then. */
static void call(MPI_Comm comm, int round, int nonblocking) {
    int root = round / 8 % size;
    MPI_Request request;
    fill(round);
    OK(nonblocking ? MPI_Iallreduce(mine, found, 3, MPI_INT, MPI_SUM, comm, &request)
                   : MPI_Allreduce(mine, found, 3, MPI_INT, MPI_SUM, comm));
    if (nonblocking)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        EQUAL(found[i], of_all(round, i));
    OK(nonblocking ? MPI_Igather(mine, 2, MPI_INT, found, 2, MPI_INT, root, comm, &request)
                   : MPI_Gather(mine, 2, MPI_INT, found, 2, MPI_INT, root, comm));
    if (nonblocking)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int r = 0; r < size && rank == root; r++)
        EQUAL(found[2 * r + 1], 1000 * round + 10 * r + 1);
    OK(nonblocking ? MPI_Ibcast(mine, SPAN, MPI_INT, root, comm, &request)
                   : MPI_Bcast(mine, SPAN, MPI_INT, root, comm));
    if (nonblocking)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(mine[SPAN - 1], 1000 * round + 10 * root + SPAN - 1);
}

/* Two that look the same are under way at the same time. */
static void check_together(void) {
    MPI_Request requests[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE));
    fill(3);
    for (int i = 0; i < ROUNDS; i++)
        OK(MPI_Iallreduce(mine, found + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < ROUNDS; i++)
        EQUAL(found[i], of_all(3, 0));
}

static void first(void *left, void *right, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)right)[i] = ((int *)left)[i];
}

static void larger(void *left, void *right, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        if (((int *)left)[i] > ((int *)right)[i])
            ((int *)right)[i] = ((int *)left)[i];
}

/* New datatypes, operations and communicators may get the handles that old ones had. */
static void check_handles(void) {
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Datatype type;
        MPI_Op op;
        MPI_Comm comm;
        int stride = 1 + round % 3;
        fill(round);
        OK(MPI_Type_vector(3, 1, stride, MPI_INT, &type));
        OK(MPI_Type_commit(&type));
        OK(MPI_Bcast(mine, 1, type, 0, MPI_COMM_WORLD));
        for (int i = 0; i < 3 * stride; i++)
            EQUAL(mine[i], 1000 * round + i + (i % stride ? 10 * rank : 0));
        OK(MPI_Type_free(&type));

        fill(round);
        OK(MPI_Op_create(round % 2 ? first : larger, round % 2 == 0, &op));
        OK(MPI_Allreduce(mine, found, 1, MPI_INT, op, MPI_COMM_WORLD));
        EQUAL(found[0], 1000 * round + (round % 2 ? 0 : 10 * (size - 1)));
        OK(MPI_Op_free(&op));

        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -rank : rank, &comm));
        fill(round);
        for (int again = 0; again < 3; again++) {
            OK(MPI_Bcast(mine, 1, MPI_INT, 0, comm));
            EQUAL(mine[0], 1000 * round + (round % 2 ? 10 * (size - 1) : 0));
        }
        OK(MPI_Comm_free(&comm));
    }
}

/* What fails fails again, and harms nothing. */
static void check_errors(void) {
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    for (int round = 0; round < 4; round++) {
        GIVES(MPI_ERR_ROOT, MPI_Bcast(mine, 1, MPI_INT, size, comm));
        GIVES(MPI_ERR_COUNT, MPI_Bcast(mine, -1, MPI_INT, 0, comm));
        GIVES(MPI_ERR_COUNT, MPI_Ibcast(mine, -1, MPI_INT, 0, comm, NULL)); /* the first that is wrong */
        GIVES(MPI_ERR_ARG, MPI_Ibcast(mine, 1, MPI_INT, 0, comm, NULL));
        GIVES(MPI_ERR_OP, MPI_Allreduce(mine, found, 1, MPI_INT, MPI_OP_NULL, comm));
        call(comm, round, 0);
    }
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int round = 0; round < ROUNDS; round++)
        call(MPI_COMM_WORLD, round, round / 20);
    for (int round = 0; round < ROUNDS; round++)
        call(MPI_COMM_WORLD, round, round % 2);
    check_together();
    check_handles();
    check_errors();
    return end();
}
