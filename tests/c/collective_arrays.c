/* Arrays of counts, displacements and datatypes are read during the call and never written: the program may do
   with them what it likes as soon as a nonblocking call, or the initialisation of a persistent operation, has
   returned. MPI-5.0 asks for less: Collective Communication, Nonblocking and Persistent Collective Operations. */
#define _GNU_SOURCE
#include "sorts.h"
#include <sys/mman.h>

enum { COUNT = 1000 };

/* The arrays lie in memory that can be read alone, and that is gone after the call. */
static void in_passing_memory(MPI_Comm comm, int sort, int lifetime, int root, MPI_Request *request, Collective *it) {
    *it = collective(comm, sort, COUNT, root);
    Arrays *kept = it->arrays;
    it->arrays = mmap(NULL, sizeof *kept, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(it->arrays != MAP_FAILED, "there is memory");
    *it->arrays = *kept;
    EQUAL(mprotect(it->arrays, sizeof *kept, PROT_READ), 0);
    fill(it, 0);
    call(it, lifetime, request);
    EQUAL(munmap(it->arrays, sizeof *kept), 0);
    it->arrays = kept;
    memset(kept, 255, sizeof *kept);
}

static void every_one(MPI_Comm comm) {
    MPI_Request request;
    Collective it;
    for (int sort = 0; sort < SORTS; sort++)
        for (int root = 0; has_arrays(sort) && root < size; root++) {
            in_passing_memory(comm, sort, NONBLOCKING, root, &request, &it);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            verify(&it, 0);
            discard(&it);
            in_passing_memory(comm, sort, PERSISTENT, root, &request, &it);
            for (int round = 1; round < 4; round++) {
                fill(&it, round);
                OK(MPI_Start(&request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                verify(&it, round);
            }
            OK(MPI_Request_free(&request));
            discard(&it);
        }
}

int main(int argc, char **argv) {
    MPI_Comm comms[COMMS];
    begin(&argc, &argv);
    int made = make_comms(comms);
    for (int k = 0; k < made; k++)
        every_one(comms[k]);
    free_comms(comms, made);
    return end();
}
