/* Memory that several ranks see is freed once, and at its beginning.
   MPI-5.0: MPI Environmental Management, Memory Allocation. */
#include "check.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv) {
    char *blocks[2];
    begin(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &blocks[i]));
        memset(blocks[i], i, BYTES);
    }
    for (int i = 0; i < 2; i++) {
        GIVES(MPI_ERR_BASE, MPI_Free_mem(blocks[i] + 64));
        OK(MPI_Free_mem(blocks[i]));
        GIVES(MPI_ERR_BASE, MPI_Free_mem(blocks[i]));
    }
    return end();
}
