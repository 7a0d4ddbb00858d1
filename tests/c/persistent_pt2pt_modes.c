/* Persistent sends of every mode against ordinary and persistent receives.
   MPI-5.0: Point-to-Point Communication, Persistent Communication Requests. */
#include "check.h"

typedef int Send_init(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int Send_init_c(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

enum { COUNT = 2000, MODES = 4 };

static int sent[COUNT], received[COUNT];

/* The receive is started at every rank before any send is: right for ready sends too. */
static void round_trip(MPI_Request *send, MPI_Request *receive, int mode, int round) {
    int left = (rank + size - 1) % size;
    MPI_Status status;
    for (int i = 0; i < COUNT; i++)
        sent[i] = 100000 * rank + 100 * round + mode;
    OK(MPI_Start(receive));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(send));
    OK(MPI_Wait(receive, &status));
    check_status(&status, left, mode, MPI_INT, COUNT);
    EQUAL(received[0], 100000 * left + 100 * round + mode);
    EQUAL(received[COUNT - 1], 100000 * left + 100 * round + mode);
    OK(MPI_Wait(send, MPI_STATUS_IGNORE));
    CHECK(*send != MPI_REQUEST_NULL && *receive != MPI_REQUEST_NULL, "persistent requests stay");
}

int main(int argc, char **argv) {
    static Send_init *const inits[MODES] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
    static Send_init_c *const large[MODES] = {
        MPI_Send_init_c, MPI_Bsend_init_c, MPI_Ssend_init_c, MPI_Rsend_init_c};
    static char buffer[2 * (sizeof sent + MPI_BSEND_OVERHEAD)];
    void *detached;
    int bytes;
    MPI_Request send, receive;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    for (int mode = 0; mode < MODES; mode++) {
        OK(inits[mode](sent, COUNT, MPI_INT, right, mode, MPI_COMM_WORLD, &send));
        OK(MPI_Recv_init(received, COUNT, MPI_INT, left, mode, MPI_COMM_WORLD, &receive));
        for (int round = 0; round < 5; round++)
            round_trip(&send, &receive, mode, round);
        OK(MPI_Request_free(&send));
        OK(large[mode](sent, COUNT, MPI_INT, right, mode, MPI_COMM_WORLD, &send));
        round_trip(&send, &receive, mode, 5);
        OK(MPI_Request_free(&send));
        OK(MPI_Request_free(&receive));
        CHECK(send == MPI_REQUEST_NULL && receive == MPI_REQUEST_NULL, "freed requests become null");
    }
    OK(MPI_Buffer_detach(&detached, &bytes));
    return end();
}
