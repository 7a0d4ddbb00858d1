/* A spawned process sends something and leaves without disconnecting, as it may: who waits for messages from anybody in
   the WAY that is named goes on to get those of others, and an error only when all others have left.
   MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI. */
#include <unistd.h>

#include "spawned.h"

/* Longer than it takes to leave. */
enum { LATER_US = 500000 };

static MPI_Comm all;
static int value;

static int receive(const char *way) {
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0, code = MPI_SUCCESS;
    if (strcmp(way, "recv") == 0)
        return MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, &status);
    if (strcmp(way, "irecv") == 0) {
        OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, &request));
        return MPI_Wait(&request, &status);
    }
    if (strcmp(way, "improbe") == 0) {
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Improbe(MPI_ANY_SOURCE, 1, all, &flag, &message, &status);
        return code == MPI_SUCCESS ? MPI_Mrecv(&value, 1, MPI_INT, &message, &status) : code;
    }
    if (strcmp(way, "probe") == 0)
        code = MPI_Probe(MPI_ANY_SOURCE, 1, all, &status);
    else
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Iprobe(MPI_ANY_SOURCE, 1, all, &flag, &status);
    return code == MPI_SUCCESS ? MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, 1, all, &status) : code;
}

int main(int argc, char **argv) {
    MPI_Comm inter = MPI_COMM_NULL;
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    if (parent == MPI_COMM_NULL)
        OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Intercomm_merge(parent == MPI_COMM_NULL ? inter : parent, parent != MPI_COMM_NULL, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    if (parent != MPI_COMM_NULL) {
        value = 1;
        OK(MPI_Send(&value, 1, MPI_INT, 0, 1, all));
    } else if (rank == 1) {
        usleep(LATER_US);
        value = 2;
        OK(MPI_Send(&value, 1, MPI_INT, 0, 1, all));
    } else {
        for (int i = 1; i < 3; i++) {
            OK(receive(argv[1]));
            EQUAL(value, i);
            /* From the one who has left nothing comes any more. */
            if (i == 1)
                GIVES(MPI_ERR_PROC_ABORTED, MPI_Recv(&value, 1, MPI_INT, size, 1, all, MPI_STATUS_IGNORE));
        }
        printf("passed on %d\n", size);
    }
    return MPI_Finalize();
}
