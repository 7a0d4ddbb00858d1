/* Products of complex numbers of which an operand is infinite and both parts are NaN by definition: infinities where the
   user has asked for what annex G of C wants, which the program is told by its argument; in all lifetimes. */
#include <math.h>

#include "check.h"

int main(int argc, char **argv) {
    int recovers = argc > 1 && strcmp(argv[1], "recovered") == 0;
    begin(&argc, &argv);
    double parts[3][2] = {{INFINITY, INFINITY}, {INFINITY, 0}, {2, 0}};
    double given[2][2], product[2][2];
    MPI_Request request;
    OK(MPI_Allreduce_init(given, product, 2, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    for (int lifetime = 0; lifetime < 3; lifetime++) {
        memcpy(given[0], parts[rank < 2 ? rank : 2], sizeof given[0]);
        given[1][0] = 1;
        given[1][1] = rank == 0;
        if (lifetime == 0) {
            OK(MPI_Allreduce(given, product, 2, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
        } else {
            MPI_Request one = request;
            if (lifetime == 1)
                OK(MPI_Iallreduce(given, product, 2, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, &one));
            else
                OK(MPI_Start(&one));
            OK(MPI_Wait(&one, MPI_STATUS_IGNORE));
        }
        int infinite = isinf(product[0][0]) || isinf(product[0][1]);
        CHECK(infinite == recovers, "lifetime %d: %g + %g i", lifetime, product[0][0], product[0][1]);
        CHECK(recovers || (isnan(product[0][0]) && isnan(product[0][1])), "lifetime %d", lifetime);
        CHECK(product[1][0] == 1 && product[1][1] == 1, "lifetime %d: ordinary numbers", lifetime);
    }
    OK(MPI_Request_free(&request));
    return end();
}
