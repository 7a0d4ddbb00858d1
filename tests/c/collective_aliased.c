/* A rank must not receive where it sends from, unless it says so by MPI_IN_PLACE.
   MPI-5.0: MPI Terms and Conventions, Procedure Specification; Collective Communication. */
#include "check.h"

enum { MOST = 64 };

static int memory[MOST], zeros[8], ones[8], places[8], behind[8];
static MPI_Datatype types[8];

/* All three lifetimes refuse the same; `request` is that of the two that make one. */
#define REFUSED(name, iname, comm, ...)                                                             \
    do {                                                                                            \
        MPI_Request request = MPI_REQUEST_NULL;                                                     \
        GIVES(MPI_ERR_BUFFER, MPI_##name(__VA_ARGS__, comm));                                       \
        GIVES(MPI_ERR_BUFFER, MPI_##iname(__VA_ARGS__, comm, &request));                            \
        GIVES(MPI_ERR_BUFFER, MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request));       \
        CHECK(request == MPI_REQUEST_NULL, "a call that fails makes no request");                   \
    } while (0)

static void refused(MPI_Comm comm) {
    int *own = memory + rank, sum = 0;
    REFUSED(Allgather, Iallgather, comm, own, 1, MPI_INT, memory, 1, MPI_INT);
    REFUSED(Allgatherv, Iallgatherv, comm, own, 1, MPI_INT, memory, ones, places, MPI_INT);
    REFUSED(Allreduce, Iallreduce, comm, memory, memory, 3, MPI_INT, MPI_SUM);
    REFUSED(Alltoall, Ialltoall, comm, memory, 2, MPI_INT, memory, 2, MPI_INT);
    REFUSED(Alltoallv, Ialltoallv, comm, memory, ones, places, MPI_INT, memory, ones, places, MPI_INT);
    REFUSED(Alltoallw, Ialltoallw, comm, memory, ones, places, types, memory, ones, places, types);
    GIVES(MPI_ERR_BUFFER, MPI_Reduce_local(memory, memory, 2, MPI_INT, MPI_SUM));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm)); /* nobody has taken part in what was refused */
    EQUAL(sum, size * (size - 1) / 2);
}

/* Where both buffers count: at the root. */
static void refused_at_root(void) {
    MPI_Comm self = MPI_COMM_SELF;
    REFUSED(Gather, Igather, self, memory, 2, MPI_INT, memory, 2, MPI_INT, 0);
    REFUSED(Gatherv, Igatherv, self, memory, 1, MPI_INT, memory, ones, zeros, MPI_INT, 0);
    REFUSED(Reduce, Ireduce, self, memory, memory, 1, MPI_INT, MPI_SUM, 0);
    REFUSED(Scatter, Iscatter, self, memory, 2, MPI_INT, memory, 2, MPI_INT, 0);
    REFUSED(Scatterv, Iscatterv, self, memory, ones, zeros, MPI_INT, memory, 1, MPI_INT, 0);
}

/* What does not count, or holds no data, may be given twice. */
static void allowed(MPI_Comm comm) {
    int out = -1, *other = rank == 0 ? &out : memory;
    OK(MPI_Allgather(memory, 0, MPI_INT, memory, 0, MPI_INT, comm));
    OK(MPI_Allreduce(memory, memory, 0, MPI_INT, MPI_SUM, comm));
    OK(MPI_Alltoall(memory, 0, MPI_INT, memory, 0, MPI_INT, comm));
    OK(MPI_Gather(memory, 0, MPI_INT, memory, 0, MPI_INT, 0, comm));
    OK(MPI_Reduce_local(memory, memory, 0, MPI_INT, MPI_SUM));
    memory[0] = 1;
    OK(MPI_Reduce(memory, other, 1, MPI_INT, MPI_SUM, 0, comm));
    EQUAL(out, rank == 0 ? size : -1);
    OK(MPI_Sendrecv(memory, 1, MPI_INT, MPI_PROC_NULL, 0, memory, 1, MPI_INT, MPI_PROC_NULL, 0, comm,
                    MPI_STATUS_IGNORE));
}

/* Halves of one array, and columns of one matrix, are two buffers. */
static void apart(MPI_Comm comm) {
    MPI_Datatype column;
    for (int i = 0; i < size; i++)
        memory[i] = 100 * rank + i;
    OK(MPI_Alltoall(memory, 1, MPI_INT, memory + size, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        EQUAL(memory[size + i], 100 * i + rank);
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    for (int i = 0; i < 8; i++)
        memory[i] = i;
    OK(MPI_Alltoall(memory, 1, column, memory + 1, 1, column, MPI_COMM_SELF));
    for (int i = 0; i < 8; i++)
        EQUAL(memory[i], i / 2 * 2);
    GIVES(MPI_ERR_BUFFER, MPI_Alltoall(memory, 1, column, memory, 1, column, MPI_COMM_SELF));
    OK(MPI_Type_free(&column));
}

/* Beyond what other libraries see: any byte that is in both, whatever the datatypes. */
static void refused_in_part(MPI_Comm comm) {
    GIVES(MPI_ERR_BUFFER, MPI_Allgather(memory, 1, MPI_INT, memory, 1, MPI_INT, comm));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(memory, memory + 1, 2, MPI_INT, MPI_SUM, comm));
    GIVES(MPI_ERR_BUFFER, MPI_Alltoall(memory, 4, MPI_BYTE, memory, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        memory[i] = rank;
    OK(MPI_Alltoallv(memory, ones, places, MPI_INT, memory, ones, behind, MPI_INT, comm));
    for (int i = 0; i < size; i++)
        EQUAL(memory[behind[i]], i);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < size; i++)
        ones[i] = 1, places[i] = i, behind[i] = size + i, types[i] = MPI_INT;
    refused_at_root();
    refused(MPI_COMM_WORLD);
    allowed(MPI_COMM_WORLD);
    apart(MPI_COMM_WORLD);
    if (argc == 1)
        refused_in_part(MPI_COMM_WORLD);
    return end();
}
