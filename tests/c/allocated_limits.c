/* Much memory of MPI_Alloc_mem, wherever that comes from: what is freed goes back, and what there is works.
   MPI-5.0: MPI Environmental Management, Memory Allocation. */
#include "check.h"
#include "resident.h"

enum { BLOCKS = 40, MEGABYTE = 1 << 20 };

static void swap(char *out, char *in, int bytes) {
    memset(out, rank + 1, (size_t)bytes);
    OK(MPI_Alltoall(out, bytes / size, MPI_BYTE, in, bytes / size, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < bytes / size * size; i += 999)
        EQUAL(in[i], i / (bytes / size) + 1);
}

int main(int argc, char **argv) {
    char *blocks[BLOCKS];
    begin(&argc, &argv);
    for (int cycle = 0; cycle < 5; cycle++) {
        for (int i = 0; i < BLOCKS; i++) {
            OK(MPI_Alloc_mem(2 * MEGABYTE + i * 10000, MPI_INFO_NULL, &blocks[i]));
            memset(blocks[i], i, 2 * MEGABYTE);
        }
        for (int i = 1; i < BLOCKS; i += 7)
            swap(blocks[i - 1], blocks[i], 2 * MEGABYTE);
        for (int i = 0; i < BLOCKS; i++)
            OK(MPI_Free_mem(blocks[(i * 7 + cycle) % BLOCKS]));
    }
    long before = resident();
    OK(MPI_Alloc_mem(100 * MEGABYTE, MPI_INFO_NULL, &blocks[0]));
    memset(blocks[0], 1, 100 * MEGABYTE);
    OK(MPI_Free_mem(blocks[0]));
    CHECK(resident() < before + 20 * 256, "%ld pages, then %ld", before, resident());
    return end();
}
