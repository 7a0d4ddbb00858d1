/* Jobs that meet at a port, whose name the server publishes: `--serve NAME CLIENTS`, `--visit NAME [TIMES]`.
   MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication. */
#include <unistd.h>

#include "spawned.h"

static void check_wrong_ports(void) {
    char port[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME];
    const char *wrong[] = {"", "oxmpi:", "nonsense", "oxmpi:00000000000000000000000000000000", port};
    MPI_Comm inter = MPI_COMM_SELF;
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Open_port(MPI_INFO_NULL, other));
    CHECK(strcmp(port, other) != 0, "ports have names of their own");
    OK(MPI_Close_port(port));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        GIVES(MPI_ERR_PORT, MPI_Close_port(wrong[i]));
        for (int root = 0; root < size; root++) {
            const char *name = rank == root ? wrong[i] : other;
            GIVES(MPI_ERR_PORT, MPI_Comm_accept(name, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
            GIVES(MPI_ERR_PORT, MPI_Comm_connect(name, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
        }
    }
    OK(MPI_Close_port(other));
    CHECK(inter == MPI_COMM_SELF, "what was given is as it was");
    GIVES(MPI_ERR_ROOT, MPI_Comm_connect(other, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter));
    GIVES(MPI_ERR_ROOT, MPI_Comm_accept(other, MPI_INFO_NULL, -1, MPI_COMM_WORLD, &inter));
}

/* What both do while they are connected. */
static void meet(MPI_Comm inter, int is_server) {
    MPI_Comm merged, copy;
    int others, value, found;
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_remote_size(inter, &others));
    check_sizes(inter, size, others);
    greet_all(inter, is_server);
    OK(MPI_Intercomm_merge(inter, is_server, &merged));
    OK(MPI_Comm_dup(merged, &copy));
    OK(MPI_Comm_rank(copy, &found));
    EQUAL(found, rank + (is_server ? others : 0));
    value = found == 0 ? 42 : 0;
    OK(MPI_Bcast(&value, 1, MPI_INT, 0, copy));
    EQUAL(value, 42);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_disconnect(&merged));
    OK(MPI_Comm_disconnect(&inter));
}

static void serve(const char *name, int clients) {
    char port[MPI_MAX_PORT_NAME] = "";
    int root = size - 1;
    MPI_Comm inter;
    if (rank == root) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
    }
    for (int client = 0; client < clients; client++) {
        OK(MPI_Comm_accept(rank == root ? port : NULL, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter));
        meet(inter, 1);
    }
    if (rank == root) {
        OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
}

static void visit(const char *name, int times) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    /* The server may begin later. */
    while (rank == 0 && class_of(MPI_Lookup_name(name, MPI_INFO_NULL, port)) != MPI_SUCCESS)
        usleep(1000);
    while (times-- > 0) {
        OK(MPI_Comm_connect(rank == 0 ? port : NULL, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        meet(inter, 0);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_wrong_ports();
    CHECK(argc == 4, "there are three arguments");
    if (strcmp(argv[1], "--serve") == 0)
        serve(argv[2], atoi(argv[3]));
    else
        visit(argv[2], atoi(argv[3]));
    return end();
}
