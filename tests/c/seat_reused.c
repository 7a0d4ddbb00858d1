/* Descriptors that the launcher has left for the library were closed on the way, and their numbers are the program's
   own now: they stay as they are. MPI-5.0: Process Initialization, Creation, and Management. */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MOST = 256 };

static int number(const char *name) {
    const char *text = getenv(name);
    CHECK(text != NULL, "%s is not set", name);
    return atoi(text);
}

static struct flock whole(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* Whether another process sees the lock of this one. */
static int is_locked(int fd) {
    pid_t parent = getpid(), child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        struct flock lock = whole();
        _exit(fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK && lock.l_pid == parent);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

int main(int argc, char **argv) {
    int job = number("OXMPI_JOB_FD"), lifeline = number("OXMPI_LIFELINE_FD");
    int last = job < lifeline ? lifeline : job, pairs[MOST][2], count = 0;
    CHECK(last < MOST && fcntl(job, F_GETFD) == -1 && fcntl(lifeline, F_GETFD) == -1, "they were not closed");
    FILE *file = tmpfile();
    CHECK(file != NULL && dup2(fileno(file), job) == job, "no file");
    struct flock lock = whole();
    CHECK(fcntl(job, F_SETLK, &lock) == 0 && fcntl(job, F_SETFL, O_APPEND) == 0, "no lock");
    while (count == 0 || pairs[count - 1][0] < last)
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[count++]) == 0, "no sockets");
    int flags[MOST], kept[MOST];
    for (int fd = 0; fd <= last; fd++) {
        flags[fd] = fcntl(fd, F_GETFL);
        kept[fd] = fcntl(fd, F_GETFD);
    }
    begin(&argc, &argv);
    for (int i = 0; i < count; i++) {
        char bytes[2] = "ab";
        for (int end = 0; end < 2; end++)
            CHECK(write(pairs[i][end], bytes, 1) == 1 && read(pairs[i][1 - end], bytes + 1, 1) == 1, "no bytes");
        EQUAL(bytes[1], 'a');
    }
    for (int fd = 0; fd <= last; fd++)
        CHECK(fcntl(fd, F_GETFL) == flags[fd] && fcntl(fd, F_GETFD) == kept[fd], "descriptor %d has changed", fd);
    CHECK(is_locked(job), "the lock is lost");
    int sum, mine = rank;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    return end();
}
