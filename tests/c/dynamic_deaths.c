/* One job dies, and the other, which was connected with it, gets errors and goes on: `--serve NAME WAY` survives, having
   waited in this way; `--die NAME HOW` does not.
   MPI-5.0: Process Initialization, Creation, and Management, Connectivity; MPI Environmental Management. */
#include <signal.h>
#include <unistd.h>

#include "spawned.h"

enum { LONG = 1 << 20, PENDING = 5 };

static MPI_Comm inter, merged;
static int buffer[LONG], small[PENDING];
static MPI_Request pending[PENDING];
/* A rank of the other job in `merged`. */
static int there;

static void dies(int code, const char *what) {
    CHECK(class_of(code) == MPI_ERR_PROC_ABORTED, "%s gave '%s'", what, text_of(code));
}

#define DIES(call) dies(call, #call)

/* Looks until there is an error. */
#define LOOKS(call)                                                                                 \
    do {                                                                                            \
        int flag_ = 0, code_;                                                                       \
        do {                                                                                        \
            int *flag = &flag_;                                                                     \
            code_ = (call);                                                                         \
        } while (code_ == MPI_SUCCESS && !flag_);                                                   \
        dies(code_, #call);                                                                         \
    } while (0)

static void post(void) {
    OK(MPI_Irecv(&small[0], 1, MPI_INT, 0, 50, inter, &pending[0]));
    OK(MPI_Irecv(&small[1], 1, MPI_INT, MPI_ANY_SOURCE, 51, inter, &pending[1]));
    OK(MPI_Issend(&small[2], 1, MPI_INT, 0, 52, inter, &pending[2]));
    OK(MPI_Isend(buffer, LONG, MPI_INT, 0, 53, inter, &pending[3]));
    OK(MPI_Irecv(&small[4], 1, MPI_INT, there, 54, merged, &pending[4]));
}

static void wait_for(MPI_Request *request) {
    DIES(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(*request == MPI_REQUEST_NULL, "it is over");
}

/* Waits for what will never come, and gets an error. */
static void wait_in(const char *way) {
    MPI_Status status, statuses[PENDING];
    MPI_Message message;
    MPI_Request request;
    MPI_Comm comm;
    int index, count, indices[PENDING];
#define IS(name) (strcmp(way, name) == 0)
    if (IS("recv"))
        DIES(MPI_Recv(small, 1, MPI_INT, 0, 1, inter, &status));
    else if (IS("recv_any"))
        DIES(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
    else if (IS("recv_merged"))
        DIES(MPI_Recv(small, 1, MPI_INT, there, 1, merged, &status));
    else if (IS("recv_any_merged"))
        DIES(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 1, merged, &status));
    else if (IS("probe"))
        DIES(MPI_Probe(0, 1, inter, &status));
    else if (IS("probe_any"))
        DIES(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
    else if (IS("mprobe"))
        DIES(MPI_Mprobe(0, MPI_ANY_TAG, inter, &message, &status));
    else if (IS("iprobe"))
        LOOKS(MPI_Iprobe(0, 1, inter, flag, &status));
    else if (IS("iprobe_any"))
        LOOKS(MPI_Iprobe(MPI_ANY_SOURCE, 1, merged, flag, &status));
    else if (IS("improbe"))
        LOOKS(MPI_Improbe(0, 1, inter, flag, &message, &status));
    else if (IS("ssend"))
        DIES(MPI_Ssend(small, 1, MPI_INT, 0, 1, inter));
    else if (IS("send_long"))
        DIES(MPI_Send(buffer, LONG, MPI_INT, 0, 1, inter));
    else if (IS("sendrecv"))
        DIES(MPI_Sendrecv(small, 1, MPI_INT, 0, 1, small + 1, 1, MPI_INT, 0, 1, inter, &status));
    else if (IS("wait_receive"))
        wait_for(&pending[0]);
    else if (IS("wait_any_source"))
        wait_for(&pending[1]);
    else if (IS("wait_send"))
        wait_for(&pending[2]);
    else if (IS("wait_long"))
        wait_for(&pending[3]);
    else if (IS("waitall")) {
        GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(PENDING, pending, statuses));
        for (int i = 0; i < PENDING; i++)
            if (class_of(statuses[i].MPI_ERROR) != MPI_ERR_PENDING)
                dies(statuses[i].MPI_ERROR, "a request");
    } else if (IS("waitany"))
        DIES(MPI_Waitany(PENDING, pending, &index, &status));
    else if (IS("waitsome"))
        GIVES(MPI_ERR_IN_STATUS, MPI_Waitsome(PENDING, pending, &count, indices, statuses));
    else if (IS("test"))
        LOOKS(MPI_Test(&pending[0], flag, &status));
    else if (IS("testany"))
        LOOKS(MPI_Testany(PENDING, pending, &index, flag, &status));
    else if (IS("testall")) {
        int code, flag = 0;
        do
            code = MPI_Testall(PENDING, pending, &flag, statuses);
        while (code == MPI_SUCCESS && !flag);
        CHECK(class_of(code) == MPI_ERR_IN_STATUS, "it gave '%s'", text_of(code));
    } else if (IS("testsome")) {
        int code;
        do
            code = MPI_Testsome(PENDING, pending, &count, indices, statuses);
        while (code == MPI_SUCCESS);
        CHECK(class_of(code) == MPI_ERR_IN_STATUS, "it gave '%s'", text_of(code));
    } else if (IS("get_status"))
        LOOKS(MPI_Request_get_status(pending[0], flag, &status) != MPI_SUCCESS || *flag ? MPI_ERR_PROC_ABORTED
                                                                                          : MPI_SUCCESS);
    else if (IS("persistent_receive")) {
        OK(MPI_Recv_init(small, 1, MPI_INT, 0, 1, inter, &request));
        OK(MPI_Start(&request));
        DIES(MPI_Wait(&request, &status));
        OK(MPI_Request_free(&request));
    } else if (IS("barrier"))
        DIES(MPI_Barrier(inter));
    else if (IS("allreduce"))
        DIES(MPI_Allreduce(small, small + 1, 1, MPI_INT, MPI_SUM, inter));
    else if (IS("bcast"))
        DIES(MPI_Bcast(buffer, LONG, MPI_INT, 0, inter));
    else if (IS("alltoall"))
        DIES(MPI_Alltoall(buffer, 10000, MPI_INT, buffer + LONG / 2, 10000, MPI_INT, inter));
    else if (IS("barrier_merged"))
        DIES(MPI_Barrier(merged));
    else if (IS("ibarrier")) {
        OK(MPI_Ibarrier(inter, &request));
        wait_for(&request);
    } else if (IS("test_iallreduce")) {
        OK(MPI_Iallreduce(small, small + 1, 1, MPI_INT, MPI_SUM, merged, &request));
        LOOKS(MPI_Test(&request, flag, &status));
    } else if (IS("dup"))
        DIES(MPI_Comm_dup(inter, &comm));
    else if (IS("merge"))
        DIES(MPI_Intercomm_merge(inter, 0, &comm));
    else if (IS("split"))
        DIES(MPI_Comm_split(merged, 0, 0, &comm));
    else
        CHECK(IS("nothing") || IS("disconnect") || IS("finalize"), "there is no way '%s'", way);
}

/* All that was begun is over, all that is begun is an error, and the job has everything else. */
static void go_on(char *program) {
    MPI_Comm child;
    int sum;
    for (int i = 0; i < PENDING; i++)
        if (pending[i] != MPI_REQUEST_NULL)
            wait_for(&pending[i]);
    DIES(MPI_Send(small, 1, MPI_INT, 0, 1, inter));
    DIES(MPI_Recv(small, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
    DIES(MPI_Recv(small, 1, MPI_INT, MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    DIES(MPI_Probe(MPI_ANY_SOURCE, 1, inter, MPI_STATUS_IGNORE));
    DIES(MPI_Barrier(inter));
    DIES(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 2, &sum, 1, MPI_INT, (rank + size - 1) % size, 2,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE));
    greet_all(child, 1);
    OK(MPI_Comm_disconnect(&child));
}

/* Whether what this rank tells may still be in the network when it dies, and what is told to it. */
static int is_over_hosts(void) { return getenv("OXMPI_HOST") != NULL; }

static void survive(char *program, const char *way) {
    int others;
    post();
    OK(MPI_Comm_remote_size(inter, &others));
    /* On another host one may be gone before it has told that it has received this. */
    for (int r = 0; r < others; r++) {
        int code = MPI_Ssend(small, 0, MPI_INT, r, 99, inter);
        if (is_over_hosts() && code != MPI_SUCCESS)
            dies(code, "MPI_Ssend");
        else
            OK(code);
    }
    double begin = MPI_Wtime();
    wait_in(way);
    double waited = MPI_Wtime() - begin;
    if (IS("finalize")) {
        if (rank == 0)
            printf("passed on %d\n", size);
        MPI_Finalize();
        exit(0);
    }
    if (!IS("disconnect"))
        go_on(program);
    MPI_Comm_disconnect(&merged);
    MPI_Comm_disconnect(&inter);
    if (rank == 0)
        printf("waited %.3f s in %s\n", waited, way);
}

/* When the others are through with what they need of this job. */
static void die(const char *how) {
    int others;
    OK(MPI_Comm_remote_size(inter, &others));
    for (int r = 0; r < others; r++)
        OK(MPI_Recv(NULL, 0, MPI_INT, r, 99, inter, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (strcmp(how, "all") == 0 || (strcmp(how, "one") == 0 && rank == size - 1))
        raise(SIGKILL);
    if (strcmp(how, "launcher") == 0 && rank == 0)
        kill(getppid(), SIGKILL);
    if (strcmp(how, "abort") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "exit") == 0 && rank == 0)
        _exit(4);
    /* What another one of this job waits for may go on in calls alone. */
    for (int flag; is_over_hosts();) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        usleep(1000);
    }
    pause();
}

int main(int argc, char **argv) {
    char port[MPI_MAX_PORT_NAME] = "";
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    if (parent != MPI_COMM_NULL) {
        greet_all(parent, 1);
        return leave_parent();
    }
    CHECK(argc == 4, "there are three arguments");
    int survives = strcmp(argv[1], "--serve") == 0;
    if (survives) {
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
        }
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        while (rank == 0 && class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port)) != MPI_SUCCESS)
            usleep(1000);
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Intercomm_merge(inter, !survives, &merged));
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    there = size;
    greet_all(inter, survives);
    if (!survives)
        die(argv[3]);
    survive(argv[0], argv[3]);
    return end();
}
