/* Connecting long before it is accepted, and threads that accept at ports of their own: `--serve NAME`, `--visit NAME`.
   MPI-5.0: Process Initialization, Creation, and Management, Client Routines. */
#include <pthread.h>
#include <unistd.h>

#include "spawned.h"

enum { PORTS = 2 };

static char ports[PORTS][MPI_MAX_PORT_NAME];
static MPI_Comm comms[PORTS];

static void look_up(const char *name, char *found) {
    while (class_of(MPI_Lookup_name(name, MPI_INFO_NULL, found)) != MPI_SUCCESS)
        usleep(1000);
}

static char *suffixed(const char *name, int number) {
    static _Thread_local char text[256];
    snprintf(text, sizeof text, "%s-%d", name, number);
    return text;
}

static void *accept_at(void *of) {
    int number = (int)(long)of;
    MPI_Comm inter;
    OK(MPI_Comm_accept(ports[number], MPI_INFO_NULL, 0, comms[number], &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    greet_all(inter, number);
    OK(MPI_Comm_disconnect(&inter));
    return NULL;
}

static void serve(const char *name) {
    pthread_t threads[PORTS];
    MPI_Comm inter;
    for (int number = 0; number < PORTS; number++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[number]));
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, ports[number]));
            OK(MPI_Publish_name(suffixed(name, number), MPI_INFO_NULL, ports[number]));
        }
    }
    for (long number = 0; number < PORTS; number++)
        CHECK(pthread_create(&threads[number], NULL, accept_at, (void *)number) == 0, "the system has no thread");
    for (int number = 0; number < PORTS; number++)
        pthread_join(threads[number], NULL);
    /* Late: the client is about to connect, and most likely has. */
    if (rank == 0) {
        char unused[MPI_MAX_PORT_NAME];
        look_up(suffixed(name, 99), unused);
        usleep(300000);
    }
    OK(MPI_Comm_accept(ports[0], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    greet_all(inter, 5);
    OK(MPI_Comm_disconnect(&inter));
    for (int number = 0; number < PORTS; number++) {
        OK(MPI_Comm_free(&comms[number]));
        if (rank == 0)
            OK(MPI_Close_port(ports[number]));
    }
}

static void visit(const char *name) {
    MPI_Comm inter;
    if (rank == 0)
        for (int number = 0; number < PORTS; number++)
            look_up(suffixed(name, number), ports[number]);
    for (int number = PORTS - 1; number >= 0; number--) {
        OK(MPI_Comm_connect(ports[number], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        greet_all(inter, number);
        OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0)
        OK(MPI_Publish_name(suffixed(name, 99), MPI_INFO_NULL, "now"));
    OK(MPI_Comm_connect(ports[0], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    greet_all(inter, 5);
    OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv) {
    begin_role(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK(argc > 2, "there are two arguments");
    if (strcmp(argv[1], "--serve") == 0)
        serve(argv[2]);
    else
        visit(argv[2]);
    return end();
}
