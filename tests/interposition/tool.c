/* A tool that reports the call and passes it on. */
#include <mpi.h>
#include <stdio.h>

int MPI_Get_version(int *version, int *subversion) {
    puts("tool sees the call");
    return PMPI_Get_version(version, subversion);
}
