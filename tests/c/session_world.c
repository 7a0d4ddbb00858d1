/* The world model and sessions live beside each other, in every order of beginning and end.
   MPI-5.0: Process Initialization, The World Model; The Sessions Model. */
#include "session.h"

/* The arguments, one for all ranks or for each rank one: I is MPI_Init, F is MPI_Finalize; a small letter opens a
   session, and its capital closes it. */
int main(int argc, char **argv) {
    const char *order = argv[argc > 2 ? 1 + atoi(getenv("OXMPI_RANK")) : 1];
    MPI_Session sessions[3];
    int initialized = 0, finalized = 0, flag, sum;
    for (const char *step = order; *step; step++) {
        switch (*step) {
        case 'I':
            begin(&argc, &argv);
            initialized = 1;
            break;
        case 'F':
            OK(MPI_Finalize());
            finalized = 1;
            break;
        case 'a' ... 'c':
            sessions[*step - 'a'] = opened();
            break;
        default:
            OK(MPI_Session_finalize(&sessions[*step - 'A']));
        }
        OK(MPI_Initialized(&flag));
        EQUAL(flag, initialized);
        OK(MPI_Finalized(&flag));
        EQUAL(flag, finalized);
        if (initialized && !finalized) {
            OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
            EQUAL(sum, size * (size - 1) / 2);
        }
    }
    return passed();
}
