/* A first session that is refused leaves no trace: the second hears of the same cause. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
    for (int round = 0; round < 2; round++) {
        MPI_Session session;
        int class, code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Error_class(code, &class);
        if (class != MPI_ERR_ARG)
            return 1;
    }
    puts("refused twice");
    return 0;
}
