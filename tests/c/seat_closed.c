/* Closes all descriptors that it knows nothing of, then becomes the program that its arguments name. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (argc > 1)
        execv(argv[1], argv + 1);
    perror("execv");
    return 1;
}
