/* A message of more than 2 GiB, by the large-count forms.
   MPI-5.0: Point-to-Point Communication, Blocking Send and Receive Operations. */
#include "check.h"

int main(int argc, char **argv) {
    const MPI_Count bytes = (1LL << 31) + 5;
    MPI_Count found;
    MPI_Status status;
    int small;
    begin(&argc, &argv);
    unsigned char *data = malloc((size_t)bytes);
    CHECK(data, "%lld bytes of memory", (long long)bytes);
    memset(data, 0, (size_t)bytes);
    if (rank == 0) {
        for (MPI_Count i = 0; i < bytes; i += 4099)
            data[i] = (unsigned char)(i * 31 >> 8);
        data[bytes - 1] = 77;
        OK(MPI_Send_c(data, bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    } else if (rank == 1) {
        OK(MPI_Recv_c(data, bytes, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count_c(&status, MPI_BYTE, &found));
        EQUAL(found, bytes);
        OK(MPI_Get_count(&status, MPI_BYTE, &small));
        EQUAL(small, MPI_UNDEFINED);
        for (MPI_Count i = 0; i < bytes - 1; i += 4099)
            EQUAL(data[i], (unsigned char)(i * 31 >> 8));
        EQUAL(data[bytes - 1], 77);
    }
    free(data);
    return end();
}
