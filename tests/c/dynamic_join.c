/* Joining over sockets, which can be used for other things before and afterwards: within a job (`--inside`), and
   between two (`--serve NAME`, `--visit NAME`). MPI-5.0: Process Initialization, Creation, and Management, Another Way
   to Establish MPI Communication. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawned.h"

#define MUST(condition) CHECK(condition, "the system refuses")

/* Where this process is reached: on several hosts they are called by their addresses. */
static struct sockaddr_in own_address(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *host = getenv("OXMPI_HOST");
    if (host != NULL)
        inet_aton(host, &address.sin_addr);
    return address;
}

static int listen_at(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    *address = own_address();
    MUST(listener >= 0 && bind(listener, (struct sockaddr *)address, length) == 0 && listen(listener, 5) == 0);
    MUST(getsockname(listener, (struct sockaddr *)address, &length) == 0);
    return listener;
}

static int call(struct sockaddr_in address) {
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
    struct sockaddr_in address;
    int listener = -1;
    if (rank == 0)
        listener = listen_at(&address);
    OK(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (rank == 0)
        join(accept(listener, NULL, NULL), 1);
    else if (rank == 1)
        join(call(address), 0);
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
    struct sockaddr_in address;
    begin(&argc, &argv);
    wrong_descriptors();
    if (argc == 2)
        inside();
    else if (strcmp(argv[1], "--serve") == 0 && rank == 0) {
        int listener = listen_at(&address);
        snprintf(text, sizeof text, "%u %d", address.sin_addr.s_addr, address.sin_port);
        OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, text));
        join(accept(listener, NULL, NULL), 1);
    } else if (rank == 0) {
        while (class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, text)) != MPI_SUCCESS)
            usleep(1000);
        address = own_address();
        EQUAL(sscanf(text, "%u %hu", &address.sin_addr.s_addr, &address.sin_port), 2);
        join(call(address), 0);
    }
    return end();
}
