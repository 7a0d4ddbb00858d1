/* Only some ranks open a session; the others never touch MPI, or only the world's size tells them apart. */
#include "session.h"

static MPI_Session session;

int main(void) {
    if (atoi(getenv("OXMPI_RANK")) % 2 == 1)
        return 0;
    for (int i = 0; i < 3; i++) {
        session = opened();
        OK(MPI_Session_finalize(&session));
    }
    return passed();
}
