/* A job on other hosts is killed before it has answered anything: `--serve NAME` goes on, having waited for it in a call
   and in MPI_Finalize; `--die NAME` does not.
   MPI-5.0: Process Initialization, Creation, and Management, Connectivity. */
#include <signal.h>
#include <unistd.h>

#include "check.h"

/* Longer than anybody doubts who computes and calls nothing. */
enum { SILENCE_US = 500000 };

int main(int argc, char **argv) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    MPI_Request request;
    begin(&argc, &argv);
    CHECK(argc > 2, "there are two arguments");
    if (strcmp(argv[1], "--die") == 0) {
        while (class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port)) != MPI_SUCCESS)
            usleep(1000);
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        usleep(SILENCE_US);
        raise(SIGKILL);
    }
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
    }
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    if (rank == 0)
        GIVES(MPI_ERR_PROC_ABORTED, MPI_Ssend(&rank, 1, MPI_INT, 0, 1, inter));
    else
        OK(MPI_Isend(&rank, 1, MPI_INT, 0, 1, inter, &request));
    if (rank == 0)
        printf("passed on %d\n", size);
    return MPI_Finalize();
}
