/* Joining over sockets, which can be used for other things before and afterwards: within a job (`--inside`), and
   between two (`--serve NAME`, `--visit NAME`). MPI-5.0: Process Initialization, Creation, and Management, Another Way
   to Establish MPI Communication. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawned.h"

#define MUST(condition) CHECK(condition, "the system refuses")

static int listen_on_loopback(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    MUST(listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 5) == 0);
    MUST(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    *port = ntohs(address.sin_port);
    return listener;
}

static int call(int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    MUST(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Each side says a word and hears one. */
static void talk(int fd, const char *said, const char *expected) {
    char heard[16];
    MUST(write(fd, said, 5) == 5 && recv(fd, heard, 5, MSG_WAITALL) == 5);
    CHECK(memcmp(heard, expected, 5) == 0, "it says '%.5s'", heard);
}

static void join(int fd, int is_server) {
    const char *words[] = {"visit", "serve"};
    MPI_Comm inter, merged;
    int flags = fcntl(fd, F_GETFL);
    for (int round = 0; round < 3; round++) {
        talk(fd, words[is_server], words[!is_server]);
        OK(MPI_Comm_join(fd, &inter));
        talk(fd, words[is_server], words[!is_server]);
        EQUAL(fcntl(fd, F_GETFL), flags);
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        check_sizes(inter, 1, 1);
        greet_all(inter, is_server);
        OK(MPI_Intercomm_merge(inter, is_server, &merged));
        OK(MPI_Barrier(merged));
        OK(MPI_Comm_free(&merged));
        OK(MPI_Comm_disconnect(&inter));
    }
    MUST(close(fd) == 0);
}

static void inside(void) {
    int port, listener = -1;
    if (rank == 0)
        listener = listen_on_loopback(&port);
    OK(MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (rank == 0)
        join(accept(listener, NULL, NULL), 1);
    else if (rank == 1)
        join(call(port), 0);
}

static void wrong_descriptors(void) {
    int pipes[2], sockets[2], file = open("/dev/null", O_RDWR);
    MPI_Comm inter = MPI_COMM_SELF;
    MUST(pipe(pipes) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 && file >= 0);
    int wrong[] = {-1, 99999, file, pipes[0], pipes[1]};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        GIVES(MPI_ERR_ARG, MPI_Comm_join(wrong[i], &inter));
    /* Nobody is at the other end; and then somebody who speaks of other things. */
    MUST(write(sockets[1], "GET / HTTP/1.0\r\n\r\n", 18) == 18);
    GIVES(MPI_ERR_OTHER, MPI_Comm_join(sockets[0], &inter));
    MUST(close(sockets[1]) == 0);
    GIVES(MPI_ERR_OTHER, MPI_Comm_join(sockets[0], &inter));
    CHECK(inter == MPI_COMM_SELF, "what was given is as it was");
    MUST(close(pipes[0]) == 0 && close(pipes[1]) == 0 && close(file) == 0 && close(sockets[0]) == 0);
}

int main(int argc, char **argv) {
    char text[MPI_MAX_PORT_NAME];
    int port;
    begin(&argc, &argv);
    wrong_descriptors();
    if (argc == 2)
        inside();
    else if (strcmp(argv[1], "--serve") == 0 && rank == 0) {
        int listener = listen_on_loopback(&port);
        snprintf(text, sizeof text, "%d", port);
        OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, text));
        join(accept(listener, NULL, NULL), 1);
    } else if (rank == 0) {
        while (class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, text)) != MPI_SUCCESS)
            usleep(1000);
        join(call(atoi(text)), 0);
    }
    return end();
}
