/* Memory of MPI's, aligned as the program asks. MPI-5.0: MPI Environmental Management, Memory Allocation. */
#include <stdint.h>

#include "check.h"

static void allocate(MPI_Info info, MPI_Aint bytes, uintptr_t alignment) {
    char *base;
    OK(MPI_Alloc_mem(bytes, info, &base));
    CHECK((uintptr_t)base % alignment == 0, "%p is no multiple of %lu", (void *)base, (unsigned long)alignment);
    memset(base, 1, (size_t)bytes);
    OK(MPI_Free_mem(base));
}

int main(int argc, char **argv) {
    MPI_Info info;
    void *base;
    begin(&argc, &argv);
    allocate(MPI_INFO_NULL, 1, 16);
    allocate(MPI_INFO_NULL, 0, 16);
    OK(MPI_Info_create(&info));
    for (long alignment = 1; alignment <= 1 << 20; alignment *= 2) {
        char text[32];
        snprintf(text, sizeof text, "%ld", alignment);
        OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", text));
        allocate(info, 1000, (uintptr_t)alignment);
    }
    OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "48"));
    allocate(info, 1000, 16);
    OK(MPI_Info_free(&info));
    GIVES(MPI_ERR_ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &base));
    GIVES(MPI_ERR_NO_MEM, MPI_Alloc_mem(INTPTR_MAX, MPI_INFO_NULL, &base));
    GIVES(MPI_ERR_ARG, MPI_Alloc_mem(1, MPI_INFO_NULL, NULL));
    GIVES(MPI_ERR_BASE, MPI_Free_mem(NULL));
    return end();
}
