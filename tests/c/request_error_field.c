/* The error field of a status is written for null and inactive requests, whose status is the empty one, and where a call
   with several returns MPI_ERR_IN_STATUS; else it is the program's.
   MPI-5.0: Point-to-Point Communication, Return Status. */
#include "check.h"

enum { OWN = 77, KINDS = 4, CALLS = 8 };

static int value = 1, got;

/* A persistent operation that moves nothing, one that is over at once, and two that are not. */
static void prepare(int kind, MPI_Request *request) {
    switch (kind) {
    case 0: OK(MPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, request)); break;
    case 1: OK(MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, request)); break;
    case 2: OK(MPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, request)); break;
    default: OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, request));
    }
}

static void complete(int call, MPI_Request *request, MPI_Status *status) {
    int flag = 1, index, count;
    switch (call) {
    case 0: OK(MPI_Wait(request, status)); break;
    case 1: OK(MPI_Test(request, &flag, status)); break;
    case 2: OK(MPI_Waitall(1, request, status)); break;
    case 3: OK(MPI_Testall(1, request, &flag, status)); break;
    case 4: OK(MPI_Waitany(1, request, &index, status)); break;
    case 5: OK(MPI_Testany(1, request, &index, &flag, status)); break;
    case 6: OK(MPI_Waitsome(1, request, &count, &index, status)); break;
    default:
        OK(MPI_Testsome(1, request, &count, &index, status));
        flag = count != 0;
    }
    CHECK(flag, "call %d does not find what is over", call);
}

static void ask(int call, MPI_Request request, MPI_Status *status) {
    int flag, index, count;
    switch (call % 4) {
    case 0: OK(MPI_Request_get_status(request, &flag, status)); break;
    case 1: OK(MPI_Request_get_status_all(1, &request, &flag, status)); break;
    case 2: OK(MPI_Request_get_status_any(1, &request, &index, &flag, status)); break;
    default:
        OK(MPI_Request_get_status_some(1, &request, &count, &index, status));
        flag = count != 0;
    }
    CHECK(flag, "call %d does not find what is over", call);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int kind = 0; kind < KINDS; kind++)
        for (int call = 0; call < CALLS; call++) {
            MPI_Request request, other = MPI_REQUEST_NULL;
            MPI_Status status = {.MPI_ERROR = OWN};
            int finds_inactive = call < 6, over = 0;
            prepare(kind, &request);
            if (kind == 2)
                OK(MPI_Irecv(&got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &other));
            if (kind == 3)
                OK(MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &other));
            OK(MPI_Start(&request));
            while (!over)
                OK(MPI_Request_get_status(request, &over, MPI_STATUS_IGNORE));
            ask(call, request, &status);
            EQUAL(status.MPI_ERROR, OWN);
            complete(call, &request, &status);
            EQUAL(status.MPI_ERROR, OWN);
            CHECK(request != MPI_REQUEST_NULL, "kind %d, call %d: it is persistent", kind, call);
            if (finds_inactive) {
                complete(call, &request, &status);
                EQUAL(status.MPI_ERROR, MPI_SUCCESS);
                EQUAL(status.MPI_SOURCE, MPI_ANY_SOURCE);
            }
            status.MPI_ERROR = OWN;
            if (call % 4 != 3) {
                ask(call, request, &status);
                EQUAL(status.MPI_ERROR, MPI_SUCCESS);
            }
            if (other != MPI_REQUEST_NULL) {
                status.MPI_ERROR = OWN;
                for (over = 0; !over;)
                    OK(MPI_Request_get_status(other, &over, &status));
                EQUAL(status.MPI_ERROR, OWN);
                OK(MPI_Wait(&other, &status));
                EQUAL(status.MPI_ERROR, OWN);
            }
            OK(MPI_Request_free(&request));
        }
    return end();
}
