/* dynamic_leaving WAY [HOST|stranded]: a spawned process sends something and leaves without disconnecting, as it may.
   Who waits for messages from anybody in the WAY that is named goes on to get those of others, and an error only when
   all others have left. Where a HOST is named, two are spawned there that send nothing, and all others are they;
   if somebody is stranded, the last one that leaves is of the same world.
   MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI. */
#include <unistd.h>

#include "spawned.h"

/* Longer than it takes to leave. */
enum { LATER_US = 500000 };

enum { TAG = 1, CHILDREN = 2 };

static MPI_Comm all;
static int value;

static int receive(const char *way) {
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    int flag = 0, code = MPI_SUCCESS;
    if (strcmp(way, "recv") == 0)
        return MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, all, &status);
    if (strcmp(way, "irecv") == 0) {
        OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, all, &request));
        return MPI_Wait(&request, &status);
    }
    if (strcmp(way, "improbe") == 0) {
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Improbe(MPI_ANY_SOURCE, TAG, all, &flag, &message, &status);
        return code == MPI_SUCCESS ? MPI_Mrecv(&value, 1, MPI_INT, &message, &status) : code;
    }
    if (strcmp(way, "probe") == 0)
        code = MPI_Probe(MPI_ANY_SOURCE, TAG, all, &status);
    else
        while (!flag && code == MPI_SUCCESS)
            code = MPI_Iprobe(MPI_ANY_SOURCE, TAG, all, &flag, &status);
    return code == MPI_SUCCESS ? MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, TAG, all, &status) : code;
}

static void leave_after_a_message(const char *way) {
    MPI_Request kept;
    value = 1;
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, all));
    /* A request that is not active need not be freed by who leaves. */
    if (strcmp(way, "recv") != 0)
        OK(MPI_Send_init(&value, 1, MPI_INT, 0, TAG, all, &kept));
}

static void outlast_others(const char *way) {
    for (int i = 1; i < 3; i++) {
        OK(receive(way));
        EQUAL(value, i);
        /* From the one who has left nothing comes any more. */
        if (i == 1) {
            GIVES(MPI_ERR_PROC_ABORTED, MPI_Recv(&value, 1, MPI_INT, size, TAG, all, MPI_STATUS_IGNORE));
            OK(MPI_Send(&value, 1, MPI_INT, 1, TAG, all));
        }
    }
}

static void send_later(void) {
    OK(MPI_Recv(&value, 1, MPI_INT, 0, TAG, all, MPI_STATUS_IGNORE));
    usleep(LATER_US);
    value = 2;
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, all));
}

int main(int argc, char **argv) {
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = MPI_INFO_NULL;
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    const char *way = argv[1], *host = argc > 2 ? argv[2] : "";
    int is_stranded = strcmp(host, "stranded") == 0, is_deserted = *host != '\0' && !is_stranded;
    if (is_deserted) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "host", host));
    }
    if (parent == MPI_COMM_NULL)
        OK(MPI_Comm_spawn(argv[0], argv + 1, is_deserted ? CHILDREN : 1, info, 0, MPI_COMM_WORLD, &inter,
                          MPI_ERRCODES_IGNORE));
    int is_parent = parent == MPI_COMM_NULL;
    /* The stranded one has the one that is stranded for it behind all others. */
    OK(MPI_Intercomm_merge(is_parent ? inter : parent, is_stranded ? is_parent : !is_parent, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    if (!is_parent) {
        if (!is_deserted && !is_stranded)
            leave_after_a_message(way);
    } else if (is_deserted) {
        all = inter;
        OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
        GIVES(MPI_ERR_PROC_ABORTED, receive(way));
        printf("passed on %d\n", size);
    } else if (is_stranded) {
        CHECK(rank != 0 || receive(way) != MPI_SUCCESS, "nobody is there who might have sent that");
    } else if (rank == 0) {
        outlast_others(way);
        printf("passed on %d\n", size);
    } else {
        send_later();
    }
    return MPI_Finalize();
}
