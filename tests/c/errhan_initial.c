/* The initial error handler is the one that mpiexec was told: errors before initialisation go to it too.
   MPI-5.0: MPI Environmental Management, Error Handling. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Errhandler found;
    int flag;
    char name[MPI_MAX_INFO_VAL];
    MPI_Info info;
    GIVES(MPI_ERR_ARG, MPI_Add_error_code(-1, &flag));
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == MPI_ERRORS_RETURN, "the handler of the world");
    OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &found));
    CHECK(found == MPI_ERRORS_RETURN, "the handler of the process");
    int length = sizeof name;
    OK(MPI_Info_create_env(argc, argv, &info));
    OK(MPI_Info_get_string(info, "mpi_initial_errhandler", &length, name, &flag));
    CHECK(flag && strcmp(name, "mpi_errors_return") == 0, "its name is told");
    OK(MPI_Info_free(&info));
    joined();
    return end();
}
