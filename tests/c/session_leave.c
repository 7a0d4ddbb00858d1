/* The last rank leaves while a session is open, or after it has closed it, as the argument says; the others have
   closed theirs. */
#include "session.h"
#include <unistd.h>

static MPI_Session session;

int main(int argc, char **argv) {
    (void)argc;
    session = opened();
    if (rank == size - 1 && strcmp(argv[1], "open") == 0)
        _exit(0);
    OK(MPI_Session_finalize(&session));
    if (rank == size - 1)
        _exit(atoi(argv[1]));
    return passed();
}
