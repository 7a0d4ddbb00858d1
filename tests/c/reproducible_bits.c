/* Prints the bits of reductions whose brackets show in them, in all lifetimes; all ranks have the same bits, or are
   told those of others.
   MPI-5.0: Collective Communication, Reduce (advice to implementors: the same result for the same arguments). */
#include "check.h"

enum { LONGEST = 300000 };

static double from[LONGEST], into[LONGEST], others[LONGEST];

static unsigned long long hash(const double *values, int count) {
    unsigned long long result = 0, word;
    for (int i = 0; i < count; i++) {
        memcpy(&word, &values[i], sizeof word);
        result = (result ^ word) * 0x9e3779b97f4a7c15ull;
        result ^= result >> 29;
    }
    return result;
}

static void show(const char *what, int count) {
    memcpy(others, into, sizeof(double) * (size_t)count);
    OK(MPI_Bcast(others, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CHECK(!memcmp(others, into, sizeof(double) * (size_t)count), "%s of %d: other bits than at rank 0", what, count);
    if (rank == 0)
        printf("%s %d %016llx\n", what, count, hash(into, count));
}

/* What each rank has a part of, or the last one alone. */
static void show_parts(int count) {
    int counts[64], places[64], each = count / size;
    for (int i = 0; i < size; i++) {
        counts[i] = each + (i == 0) - (i == size - 1);
        places[i] = each * i + (i > 0);
    }
    if (each > 0) {
        OK(MPI_Reduce_scatter(from, others, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Allgatherv(others, counts[rank], MPI_DOUBLE, into, counts, places, MPI_DOUBLE, MPI_COMM_WORLD));
        show("reduce_scatter", each * size);
        OK(MPI_Reduce_scatter_block(from, others, each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        OK(MPI_Allgather(others, each, MPI_DOUBLE, into, each, MPI_DOUBLE, MPI_COMM_WORLD));
        show("reduce_scatter_block", each * size);
    }
    OK(MPI_Scan(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Bcast(into, count, MPI_DOUBLE, size - 1, MPI_COMM_WORLD));
    show("scan", count);
    OK(MPI_Exscan(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Bcast(into, count, MPI_DOUBLE, size - 1, MPI_COMM_WORLD));
    show("exscan", count);
}

/* Between the first rank and the others, who get its vector: it gets what all of them have combined. */
static void show_between(int count) {
    MPI_Comm part, between;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &part));
    OK(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &between));
    OK(MPI_Allreduce(from, into, count, MPI_DOUBLE, MPI_SUM, between));
    OK(MPI_Bcast(into, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    show("allreduce between", count);
    OK(MPI_Comm_free(&between));
    OK(MPI_Comm_free(&part));
}

int main(int argc, char **argv) {
    static const int counts[] = {1, 7, 100, 4000, LONGEST};
    MPI_Request request;
    begin(&argc, &argv);
    for (int i = 0; i < LONGEST; i++) /* of very different sizes, so that every bracket rounds otherwise */
        from[i] = (1.0 + 0.37 * ((i * 31 + rank * 17) % 101)) * ((rank + i) % 3 ? 1.0 : 1e-9) * (rank % 2 ? -1 : 1.1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        int count = counts[i];
        OK(MPI_Allreduce(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        show("allreduce", count);
        OK(MPI_Iallreduce(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        show("iallreduce", count);
        OK(MPI_Allreduce_init(from, into, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&request));
        show("allreduce_init", count);
        OK(MPI_Reduce(from, into, count, MPI_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD));
        OK(MPI_Bcast(into, count, MPI_DOUBLE, size - 1, MPI_COMM_WORLD));
        show("reduce", count);
        show_parts(count);
        show_between(count);
    }
    return end();
}
