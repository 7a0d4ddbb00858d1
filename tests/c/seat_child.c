/* Programs that a rank starts are jobs of their own, whichever way they are started, and the rank stays what it is.
   So it does where a child of it is forked off and finalizes.
   With an argument the program is such a child. MPI-5.0: Process Initialization, Creation, and Management. */
#include <fcntl.h>

#include "forked.h"

static void run_by_exec(const char *program) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        execl(program, program, "child", (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(child, &status, 0);
    EQUAL(status, 0);
}

static void run_by_system(const char *program) {
    char line[4096];
    snprintf(line, sizeof line, "%s child", program);
    EQUAL(system(line), 0);
}

/* A child that ends in order, with what was registered for the end of its parent, takes nothing from that. */
static int finalize_in_child(void) {
    int is_over = 0;
    OK(MPI_Finalize());
    OK(MPI_Finalized(&is_over));
    return is_over ? 0 : 1;
}

/* A descriptor of the library's own is closed in programs that this one starts. */
static void check_descriptors(void) {
    const char *job = getenv("OXMPI_JOB_FD");
    CHECK(job != NULL, "no launcher");
    if (getenv("OXMPI_NODES"))
        return; /* those of libfabric are not */
    for (int fd = 3; fd < 64; fd++) {
        int flags = fcntl(fd, F_GETFD);
        CHECK(flags == -1 || flags & FD_CLOEXEC, "descriptor %d stays open in children", fd);
    }
}

static void exchange(int round) {
    int sum, mine = rank + round;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2 + size * round);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (argc > 1) {
        EQUAL(size, 1);
        exchange(0);
        return MPI_Finalize();
    }
    check_descriptors();
    exchange(1);
    run_by_system(argv[0]);
    exchange(2);
    run_by_exec(argv[0]);
    exchange(3);
    exchange_beside_child(MPI_COMM_WORLD, finalize_in_child);
    exchange(4);
    return end();
}
