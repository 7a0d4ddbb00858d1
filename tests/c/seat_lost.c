/* The program closes what it has not opened, and opens a file of its own by the number: nothing is written there, and
   who needs more memory of the job's ends with a sentence. MPI-5.0: Process Initialization, Creation, and Management. */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

enum { FIRST = 3, LAST = 64, BYTES = 1 << 20, BLOCKS = 64 };

int main(int argc, char **argv) {
    begin(&argc, &argv);
    static char data[BYTES];
    const char *path = argv[1];
    for (int fd = FIRST; fd <= LAST; fd++)
        close(fd);
    if (rank == 0) {
        int file = open(path, O_RDWR);
        for (int fd = FIRST; fd <= LAST; fd++)
            CHECK(fd == file || dup2(file, fd) == fd, "no number %d", fd);
        void *bases[BLOCKS];
        for (int i = 0; i < BLOCKS; i++)
            if (MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &bases[i]) == MPI_SUCCESS)
                memset(bases[i], 1, BYTES);
    }
    MPI_Bcast(data, BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    return end();
}
