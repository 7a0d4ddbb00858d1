/* What a program is told of how it was started, before, during and after MPI.
   MPI-5.0: Process Initialization, Creation, and Management, Starting MPI Processes. */
#include <unistd.h>

#include "check.h"

/* The value of a key, which is there. */
static const char *told(MPI_Info info, const char *key) {
    static char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag, "%s is told", key);
    return value;
}

static void check(MPI_Info info, const char *command, int procs) {
    char folder[4096], host[256];
    CHECK(strcmp(told(info, "command"), command) == 0, "command is %s", told(info, "command"));
    CHECK(strcmp(told(info, "argv"), "one two") == 0, "argv is %s", told(info, "argv"));
    EQUAL(atoi(told(info, "maxprocs")), procs);
    CHECK(getcwd(folder, sizeof folder) && strcmp(told(info, "wdir"), folder) == 0, "the folder");
    CHECK(gethostname(host, sizeof host) == 0 && strcmp(told(info, "host"), host) == 0, "the host");
    CHECK(strlen(told(info, "arch")) > 0, "the machine");
    CHECK(strcmp(told(info, "mpi_initial_errhandler"), "mpi_errors_are_fatal") == 0, "the error handler");
    CHECK(strcmp(told(info, "mpi_memory_alloc_kinds"), "mpi,system,mpi:alloc_mem") == 0, "the kinds of memory");
}

int main(int argc, char **argv) {
    MPI_Info info;
    int procs = atoi(getenv("PROCS"));
    OK(MPI_Info_create_env(argc, argv, &info));
    check(info, argv[0], procs);
    OK(MPI_Info_free(&info));
    begin(&argc, &argv);
    check(MPI_INFO_ENV, argv[0], procs);
    OK(MPI_Info_create_env(0, NULL, &info));
    check(info, argv[0], procs);
    OK(MPI_Info_set(info, "argv", "changed"));
    check(MPI_INFO_ENV, argv[0], procs);
    GIVES(MPI_ERR_ARG, MPI_Info_create_env(argc, argv, NULL));
    int code = end();
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(argc, argv, &info));
    check(info, argv[0], procs);
    OK(MPI_Info_free(&info));
    return code;
}
