/* Operations that nobody completes, and messages that nobody receives, do not keep MPI_Finalize from ending: the
   program is wrong, but other libraries let it end as well. MPI-5.0: Process Initialization, Finalizing MPI. */
#include "check.h"

enum { LONG = 1 << 22, MANY = 1000 };

static char message[LONG];

int main(int argc, char **argv) {
    MPI_Comm comm;
    MPI_Request request;
    MPI_Message taken;
    const char *what;
    int peer, number, bytes;
    begin(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    peer = (rank + 1) % size;
    bytes = strchr(argv[1], 'l') ? LONG : 8;
    if (rank == 0 || strchr(argv[1], 'b'))
        for (what = argv[1]; *what; what++) {
            request = MPI_REQUEST_NULL;
            if (*what == 's')
                OK(MPI_Isend(message, bytes, MPI_CHAR, peer, 5, MPI_COMM_WORLD, &request));
            if (*what == 'S')
                OK(MPI_Issend(message, bytes, MPI_CHAR, peer, 5, MPI_COMM_WORLD, &request));
            if (*what == 'r')
                OK(MPI_Irecv(message, bytes, MPI_CHAR, peer, 6, MPI_COMM_WORLD, &request));
            if (*what == 'i')
                OK(MPI_Ibarrier(comm, &request));
            if (*what == 'm')
                for (number = 0; number < MANY; number++)
                    OK(MPI_Isend(message, 8, MPI_CHAR, peer, 5, MPI_COMM_WORLD, &request));
            if (*what == 'c') {
                OK(MPI_Isend(message, bytes, MPI_CHAR, peer, 5, MPI_COMM_WORLD, &request));
                OK(MPI_Cancel(&request));
            }
            if (strchr(argv[1], 'f') && request != MPI_REQUEST_NULL)
                OK(MPI_Request_free(&request));
        }
    if (strchr(argv[1], 'p'))
        OK(MPI_Mprobe((rank + size - 1) % size, 5, MPI_COMM_WORLD, &taken, MPI_STATUS_IGNORE));
    return end();
}
