/* Reduce_local combines two buffers of one process. MPI-5.0: Collective Communication, Process-Local
   Reduction. */
#include "check.h"

int main(int argc, char **argv) {
    int a[100], b[100];
    begin(&argc, &argv);
    for (int i = 0; i < 100; i++)
        a[i] = i, b[i] = 1000 * rank;
    OK(MPI_Reduce_local(a, b, 100, MPI_INT, MPI_SUM));
    for (int i = 0; i < 100; i++)
        EQUAL(b[i], 1000 * rank + i);
    OK(MPI_Reduce_local_c(a, b, 100, MPI_INT, MPI_MIN));
    for (int i = 0; i < 100; i++)
        EQUAL(b[i], i);
    return end();
}
