/* Until there is no more shared memory. */
#include "check.h"

enum { MOST = 1 << 20 };

static MPI_Request requests[MOST];

/* As many operations as there is memory for. */
static int prepare(void) {
    for (int count = 0;; count++) {
        CHECK(count < MOST, "there is memory for %d operations", count);
        int code = MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[count]);
        if (code != MPI_SUCCESS) {
            EQUAL(class_of(code), MPI_ERR_NO_MEM);
            return count;
        }
    }
}
