/* A message of more than 8 GiB, and one of more than 4 GiB by a datatype. Their buffers take 16 MiB of memory: a file is mapped many
   times, one behind the other. The ranks map it with different periods, so that a piece out of its place is other data.
   MPI-5.0: Point-to-Point Communication, Blocking Send and Receive Operations. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { PAGE = 4096, SENT_PAGES = 4099, RECEIVED_PAGES = 4093, PAGES = (1 << 21) + 3 };

/* PAGES pages of address space, of which `period` are memory. */
static uint64_t *map(int period) {
    int file = memfd_create("period", MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)period * PAGE) == 0, "memory");
    char *base = mmap(NULL, (size_t)PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(base != MAP_FAILED, "address space");
    for (int page = 0; page < PAGES; page += period) {
        size_t bytes = (size_t)(PAGES - page < period ? PAGES - page : period) * PAGE;
        void *at = mmap(base + (size_t)page * PAGE, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
        CHECK(at != MAP_FAILED, "address space at page %d", page);
    }
    close(file);
    return (uint64_t *)(void *)base;
}

static uint64_t *page_at(uint64_t *base, int page) {
    return base + (size_t)page * (PAGE / sizeof *base);
}

/* What has come last to each page of memory is what was sent from this page. */
static void check_received(uint64_t *base, int pages) {
    for (int page = pages - RECEIVED_PAGES; page < pages; page++) {
        EQUAL(page_at(base, page)[0], page % SENT_PAGES);
        EQUAL(page_at(base, page)[PAGE / sizeof *base - 1], -(page % SENT_PAGES));
    }
}

int main(int argc, char **argv) {
    const MPI_Count bytes = (MPI_Count)PAGES * PAGE;
    MPI_Datatype half, sparse;
    MPI_Status status;
    MPI_Count found;
    begin(&argc, &argv);
    uint64_t *data = map(rank == 0 ? SENT_PAGES : RECEIVED_PAGES);
    OK(MPI_Type_contiguous_c(PAGE / 2, MPI_BYTE, &half));
    OK(MPI_Type_vector_c(PAGES / 2 + 1, 2, 2, half, &sparse));
    OK(MPI_Type_commit(&half));
    OK(MPI_Type_commit(&sparse));
    if (rank == 0) {
        for (int page = 0; page < SENT_PAGES; page++) {
            page_at(data, page)[0] = (uint64_t)page;
            page_at(data, page)[PAGE / sizeof *data - 1] = (uint64_t)-page;
        }
        OK(MPI_Send_c(data, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
        OK(MPI_Ssend(data, 1, sparse, 1, 4, MPI_COMM_WORLD));
    } else if (rank == 1) {
        OK(MPI_Recv_c(data, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count_c(&status, MPI_BYTE, &found));
        EQUAL(found, bytes);
        check_received(data, PAGES);
        memset(data, 0, (size_t)RECEIVED_PAGES * PAGE);
        OK(MPI_Recv_c(data, 2 * PAGES, half, 0, 4, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count_c(&status, half, &found));
        EQUAL(found, 2 * (PAGES / 2 + 1));
        check_received(data, PAGES / 2 + 1);
    }
    OK(MPI_Type_free(&half));
    OK(MPI_Type_free(&sparse));
    return end();
}
