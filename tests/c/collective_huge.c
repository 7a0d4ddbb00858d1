/* A broadcast of more than 2 GiB, by the large-count forms, blocking and persistent.
   MPI-5.0: Collective Communication, Broadcast. */
#include "check.h"

static unsigned char *data;
static const MPI_Count BYTES = (1LL << 31) + 5;

static void fill(int factor) {
    for (MPI_Count i = 0; i < BYTES; i += 4099)
        data[i] = rank == 0 ? (unsigned char)(i * factor >> 8) : 0;
    data[BYTES - 1] = rank == 0 ? 77 : 0;
}

static void check(int factor) {
    for (MPI_Count i = 0; i < BYTES - 1; i += 4099)
        EQUAL(data[i], (unsigned char)(i * factor >> 8));
    EQUAL(data[BYTES - 1], 77);
}

int main(int argc, char **argv) {
    MPI_Request request;
    begin(&argc, &argv);
    data = calloc((size_t)BYTES, 1);
    CHECK(data, "%lld bytes of memory", (long long)BYTES);
    fill(31);
    OK(MPI_Bcast_c(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD));
    check(31);
    OK(MPI_Bcast_init_c(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    fill(37);
    OK(MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(37);
    OK(MPI_Request_free(&request));
    free(data);
    return end();
}
