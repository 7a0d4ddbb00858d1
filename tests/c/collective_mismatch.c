/* Ranks that initialise different persistent collectives all get an error that names both calls, and can go
   on. MPI-5.0: Collective Communication, Persistent Collective Operations. */
#include "check.h"

int main(int argc, char **argv) {
    int value = rank, sum = 0, code;
    MPI_Request request = MPI_REQUEST_NULL;
    begin(&argc, &argv);
    if (rank == 0)
        code = MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        code = MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    CHECK(code != MPI_SUCCESS, "the calls differ");
    CHECK(strstr(text_of(code), "MPI_Bcast_init"), "'%s'", text_of(code));
    CHECK(strstr(text_of(code), "MPI_Allreduce_init"), "'%s'", text_of(code));
    CHECK(request == MPI_REQUEST_NULL, "a failed call sets no output");

    code = MPI_Bcast_init(&value, 1, MPI_INT, rank == 0 ? 0 : 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    CHECK(code != MPI_SUCCESS && strstr(text_of(code), "root 1"), "'%s'", text_of(code));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    return end();
}
