/* The same between two jobs, of which one may die: `--serve NAME` goes on then, `--visit NAME`. One that has died before
   it has connected is replaced by `--replace NAME`, which is not needed else. `--look NAME` waits until there is a
   server: before that a name that is not found says nothing. */
#include <unistd.h>

#include "spawned.h"

enum { ROUNDS = 60, LONG = 50000 };

static int plain[LONG], in[LONG], *lent;
/* The messages of who gives up. */
static MPI_Request last[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

/* Whether nothing has happened. What has is the end of the other job. */
static int fine(int code) {
    int class = class_of(code);
    CHECK(class == MPI_SUCCESS || class == MPI_ERR_PROC_ABORTED || class == MPI_ERR_OTHER || class == MPI_ERR_PORT,
          "'%s'", text_of(code));
    return code == MPI_SUCCESS;
}

static void look_up(const char *name, char *port) {
    while (class_of(MPI_Lookup_name(name, MPI_INFO_NULL, port)) != MPI_SUCCESS)
        usleep(1000);
}

static int use(MPI_Comm inter, MPI_Comm merged) {
    int all, own;
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(merged, &all));
    OK(MPI_Comm_rank(merged, &own));
    for (int step = 0; step < 2 * ROUNDS; step++) {
        int round = step / 2, count = step % 2 ? LONG : 1, *out = round % 2 ? lent : plain;
        for (int i = 0; i < count; i++)
            out[i] = own + i + round;
        if (rank == 0 && count == 1)
            usleep(10000);
        if (!fine(MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, inter)) ||
            !fine(MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, merged))) {
            /* Others may have heard all that they need of the dead, and wait for what would be sent and received. */
            fine(MPI_Isend(out, count, MPI_INT, (own + 1) % all, 1, merged, &last[0]));
            fine(MPI_Irecv(in, count, MPI_INT, (own + all - 1) % all, 1, merged, &last[1]));
            return 0;
        }
        EQUAL(in[count - 1], all * (all - 1) / 2 + all * (count - 1 + round));
        if (!fine(MPI_Sendrecv(out, count, MPI_INT, (own + 1) % all, 1, in, count, MPI_INT, (own + all - 1) % all, 1,
                               merged, MPI_STATUS_IGNORE)))
            return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL, merged = MPI_COMM_NULL;
    int code, is_fine;
    begin(&argc, &argv);
    CHECK(argc > 2, "there are two arguments");
    if (strcmp(argv[1], "--look") == 0) {
        look_up(argv[2], port);
        return end();
    }
    OK(MPI_Alloc_mem(sizeof plain, MPI_INFO_NULL, &lent));
    if (strcmp(argv[1], "--serve") == 0) {
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
        }
        code = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    } else {
        if (strcmp(argv[1], "--replace") == 0) {
            if (rank == 0 && class_of(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port)) != MPI_SUCCESS)
                strcpy(port, "nobody's");
        } else if (rank == 0)
            look_up(argv[2], port);
        code = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    }
    is_fine = fine(code);
    if (is_fine) {
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        is_fine = fine(MPI_Intercomm_merge(inter, 0, &merged)) && use(inter, merged);
    }
    int sum;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < 2; i++)
        if (last[i] != MPI_REQUEST_NULL) {
            OK(MPI_Cancel(&last[i]));
            fine(MPI_Wait(&last[i], MPI_STATUS_IGNORE));
        }
    if (merged != MPI_COMM_NULL)
        MPI_Comm_disconnect(&merged);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_disconnect(&inter);
    OK(MPI_Free_mem(lent));
    if (rank == 0)
        printf("%s\n", is_fine ? "all went well" : "the other job has gone");
    return end();
}
