/* A port is found wherever a rank of the job, or of one that it has spawned, looks for it, and so is a published name, on
   whichever hosts they are: `dynamic_apart NAME`.
   MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication; Name Publishing. */
#include "spawned.h"

/* What a child calls itself, beyond the rank of its parent. */
enum { CHILD = 1000 };

static const char *name;
static char port[MPI_MAX_PORT_NAME];

/* Both sides say who they are: who the other one is. */
static int greet_and_leave(MPI_Comm *between, int mine) {
    int theirs = -1;
    OK(MPI_Comm_set_errhandler(*between, MPI_ERRORS_RETURN));
    check_sizes(*between, 1, 1);
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, *between, MPI_STATUS_IGNORE));
    OK(MPI_Comm_disconnect(between));
    return theirs;
}

/* All others, and a child of each, in any order. */
static void accept_all(void) {
    MPI_Comm between;
    int all = 0, seen = 0;
    for (int client = 0; client < size; client++)
        all += client == rank ? 0 : client + CHILD + client;
    for (int visitor = 0; visitor < 2 * (size - 1); visitor++) {
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between));
        seen += greet_and_leave(&between, rank);
    }
    EQUAL(seen, all);
}

static void visit(int me, int server) {
    MPI_Comm between;
    OK(MPI_Lookup_name(name, MPI_INFO_NULL, port));
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between));
    EQUAL(greet_and_leave(&between, me), server);
}

/* A child of `client`, on its host, visits the server, too. */
static void send_a_child(char *program, int client, int server) {
    char words[3][16];
    char *arguments[] = {"--as", "visitor", words[0], words[1], (char *)name, NULL};
    MPI_Comm child;
    snprintf(words[0], sizeof words[0], "%d", CHILD + client);
    snprintf(words[1], sizeof words[1], "%d", server);
    OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_disconnect(&child));
}

/* A port that was opened on another host under another mpiexec: such a name has another sign. */
static void refuse_those_of_others(void) {
    MPI_Comm between = MPI_COMM_NULL;
    char *sign = strchr(port, '@');
    if (sign == NULL)
        return; /* all is on one host */
    sign[1] = sign[1] == '0' ? '1' : '0';
    int code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    EQUAL(class_of(code), MPI_ERR_PORT);
    CHECK(strstr(text_of(code), "under another mpiexec") != NULL, "it says %s", text_of(code));
}

static void serve(int server, char *program) {
    MPI_Comm between = MPI_COMM_NULL;
    if (rank == server) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != server)
        GIVES(MPI_ERR_SERVICE, MPI_Publish_name(name, MPI_INFO_NULL, "taken"));
    if (rank == server)
        accept_all();
    else {
        visit(rank, server);
        send_a_child(program, rank, server);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == server) {
        OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, server, MPI_COMM_WORLD));
    GIVES(MPI_ERR_PORT, MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between));
    GIVES(MPI_ERR_NAME, MPI_Lookup_name(name, MPI_INFO_NULL, port));
    refuse_those_of_others();
    CHECK(between == MPI_COMM_NULL, "it is set on success only");
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* before the next server publishes */
}

/* All of both groups, which are on other hosts. */
static void halves_meet(void) {
    MPI_Comm half, between;
    int is_left = rank < size / 2;
    port[0] = 0;
    if (rank == 0)
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_Comm_split(MPI_COMM_WORLD, is_left, 0, &half));
    if (is_left)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between));
    else
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between));
    OK(MPI_Comm_set_errhandler(between, MPI_ERRORS_RETURN));
    check_sizes(between, is_left ? size / 2 : size - size / 2, is_left ? size - size / 2 : size / 2);
    greet_all(between, is_left);
    OK(MPI_Comm_disconnect(&between));
    OK(MPI_Comm_free(&half));
    if (rank == 0)
        OK(MPI_Close_port(port));
}

int main(int argc, char **argv) {
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    name = argv[argc - 1];
    if (is_role("visitor")) {
        visit(atoi(argv[3]), atoi(argv[4]));
        return leave_parent();
    }
    for (int server = 0; server < size; server++)
        serve(server, argv[0]);
    halves_meet();
    return end();
}
