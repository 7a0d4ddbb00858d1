/* Calls a function that needs no initialisation, under both of its names. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    int major = 0, minor = 0, other_major = 0, other_minor = 0;
    int code = MPI_Get_version(&major, &minor);
    int other_code = PMPI_Get_version(&other_major, &other_minor);
    int same = code == other_code && major == other_major && minor == other_minor;
    puts(same ? "same result" : "other result");
    return 0;
}
