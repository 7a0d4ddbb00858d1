/* A job that ends in the middle of things runs none of the program's functions for its end, but what the program has
   printed is seen. MPI-5.0: MPI Environmental Management, Error Handling; Process Initialization, Abort. */
#include "check.h"
#include <unistd.h>

static void at_exit(void) {
    static const char text[] = "at exit\n";
    (void)!write(2, text, sizeof text - 1);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((destructor)) static void destroyed(void) {
    static const char text[] = "destroyed\n";
    (void)!write(2, text, sizeof text - 1);
}

int main(int argc, char **argv) {
    atexit(at_exit);
    if (strcmp(argv[1], "early") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    begin(&argc, &argv);
    printf("came so far");
    if (strcmp(argv[1], "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    MPI_Send(&rank, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
    return end();
}
