/* Communicators made and freed over and over use no more memory than one.
   MPI-5.0: Groups, Contexts, Communicators, Communicator Destructors. */
#include "check.h"

#include <unistd.h>

/* Pages that the process has in memory. */
static long resident(void) {
    long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &all, &pages) == 2, "the system tells sizes");
    fclose(file);
    return pages;
}

static void come_and_go(long times) {
    for (long i = 0; i < times; i++) {
        MPI_Comm twin;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
        OK(MPI_Comm_free(&twin));
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    long times = argc > 1 ? atol(argv[1]) : size > 4 ? 2000 : 20000;
    come_and_go(1000);
    long before = resident();
    come_and_go(times);
    long grown = (resident() - before) * sysconf(_SC_PAGESIZE);
    CHECK(grown < 1 << 20, "%ld bytes more after %ld rounds", grown, times);
    return end();
}
