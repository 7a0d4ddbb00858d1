/* Two jobs that have disconnected have nothing to do with each other any more: `dynamic_parted BY WHO FATE`. What
   connects the parents with what they spawn is the communicator that spawning gives, and one more, which is made BY
   something. When they have disconnected what they do, FATE befalls those WHO are named, parents or children, and the
   others see that outside MPI, and go on: but not if something is `_kept`, which makes them end, too.
   MPI-5.0: Process Initialization, Creation, and Management, Releasing Connections. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "spawned.h"

enum { CHILDREN = 2, MOST = 8 };

static const char *by, *who, *fate;
/* The processes of the other job. */
static int there[MOST], others;

#define BY(name) (strcmp(by, name) == 0)
#define FATE(name) (strcmp(fate, name) == 0)

/* What is called outside MPI alone: an end that MPI is asked about would be seen by it. */
static void await_ends(void) {
    for (int r = 0; r < others; r++)
        while (kill(there[r], 0) == 0 || errno != ESRCH)
            usleep(1000);
}

/* The launcher, which has seen what the others came to, answers: it has not ended this job. */
static void ask_launcher(void) {
    char name[64], port[MPI_MAX_PORT_NAME];
    snprintf(name, sizeof name, "%d", (int)getpid());
    GIVES(MPI_ERR_NAME, MPI_Lookup_name(name, MPI_INFO_NULL, port));
}

static void meet_again(MPI_Comm inter, MPI_Comm *again) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (parent != MPI_COMM_NULL) {
        OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, inter));
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, again));
        return;
    }
    if (rank == 0)
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, again));
    if (rank == 0)
        OK(MPI_Close_port(port));
}

/* Another communicator of both jobs, or none. */
static MPI_Comm connect_more(MPI_Comm inter) {
    MPI_Comm more = MPI_COMM_NULL, merged;
    if (BY("port") || BY("port_kept"))
        meet_again(inter, &more);
    else if (BY("dup") || BY("dup_kept") || BY("freed") || BY("freed_late"))
        OK(MPI_Comm_dup(inter, &more));
    else if (BY("merge") || BY("merge_kept"))
        OK(MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &more));
    else if (BY("split") || BY("split_kept")) {
        OK(MPI_Intercomm_merge(inter, parent != MPI_COMM_NULL, &merged));
        OK(MPI_Comm_split(merged, 0, 0, &more));
        OK(MPI_Comm_disconnect(&merged));
    } else
        CHECK(BY("spawn") || BY("inactive"), "nothing connects by '%s'", by);
    return more;
}

/* Ends what is asked to be ended. Freeing waits for nobody, in whatever order it is done. */
static void part(MPI_Comm inter, MPI_Comm more) {
    int is_kept = strstr(by, "_kept") != NULL, is_child = parent != MPI_COMM_NULL;
    if (BY("freed") || (BY("freed_late") && !is_child))
        OK(MPI_Comm_free(&more));
    OK(MPI_Comm_disconnect(&inter));
    if (BY("freed_late") && is_child)
        OK(MPI_Comm_free(&more));
    if (more != MPI_COMM_NULL && !is_kept)
        OK(MPI_Comm_disconnect(&more));
}

static void exchange_processes(MPI_Comm inter) {
    int mine = (int)getpid();
    OK(MPI_Comm_remote_size(inter, &others));
    CHECK(others <= MOST, "the test has room for fewer");
    OK(MPI_Allgather(&mine, 1, MPI_INT, there, 1, MPI_INT, inter));
}

/* How the job ends: one rank is enough, which may have disconnected while others still do. */
static void meet_fate(void) {
    if (FATE("end"))
        return;
    if (rank == 0 && FATE("abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (rank == 0 && FATE("exit"))
        _exit(4);
    if (rank == 0 && FATE("die"))
        raise(SIGKILL);
    for (;;)
        pause();
}

static void go_on(void) {
    while (strstr(by, "_kept") != NULL)
        pause();
    await_ends();
    ask_launcher();
    if (rank == 0)
        printf("the others go on\n");
}

int main(int argc, char **argv) {
    MPI_Comm inter;
    MPI_Request inactive[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    CHECK(argc == 4, "there are three arguments");
    by = argv[1], who = argv[2], fate = argv[3];
    int is_child = parent != MPI_COMM_NULL;
    if (is_child)
        inter = parent;
    else
        OK(MPI_Comm_spawn(argv[0], argv + 1, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    greet_all(inter, is_child);
    exchange_processes(inter);
    if (BY("inactive")) {
        OK(MPI_Barrier_init(inter, MPI_INFO_NULL, &inactive[0]));
        OK(MPI_Recv_init(there, 1, MPI_INT, 0, 0, inter, &inactive[1]));
    }
    part(inter, connect_more(inter));
    if (is_child == (strcmp(who, "children") == 0))
        meet_fate();
    else
        go_on();
    for (int i = 0; i < 2; i++)
        if (inactive[i] != MPI_REQUEST_NULL)
            OK(MPI_Request_free(&inactive[i]));
    if (!is_child)
        return end();
    MPI_Finalize();
    return 0;
}
