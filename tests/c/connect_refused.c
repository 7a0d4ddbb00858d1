/* Who connects at a port and is not accepted gets an error, and no place among those who are accepted later.
   MPI-5.0: Process Initialization, Creation, and Management, Client Routines. */
#include "check.h"

static char port[MPI_MAX_PORT_NAME];

static int connect_within(const char *seconds, MPI_Comm *between) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "timeout", seconds));
    int code = MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, between);
    OK(MPI_Info_free(&info));
    return code;
}

/* Rank 0 accepts nobody until it has heard that the other has given up. */
static void none_accepts_in_time(void) {
    MPI_Comm between = MPI_COMM_NULL;
    if (rank == 1) {
        GIVES(MPI_ERR_PORT, connect_within("0.01", &between));
        GIVES(MPI_ERR_INFO_VALUE, connect_within("soon", &between));
        GIVES(MPI_ERR_INFO_VALUE, connect_within("-1", &between));
        CHECK(between == MPI_COMM_NULL, "it is set on success only");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void the_next_is_accepted(void) {
    MPI_Comm between;
    int remote;
    if (rank == 0)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between));
    else
        OK(connect_within("1000", &between));
    OK(MPI_Comm_remote_size(between, &remote));
    EQUAL(remote, 1);
    OK(MPI_Comm_disconnect(&between));
}

/* Before rank 1 connects, or while it waits. */
static void the_port_is_closed(void) {
    MPI_Comm between;
    if (rank == 0)
        OK(MPI_Close_port(port));
    else
        GIVES(MPI_ERR_PORT, MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 0; i < 20; i++) {
        if (rank == 0)
            OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
        none_accepts_in_time();
        the_next_is_accepted();
        the_port_is_closed();
    }
    return end();
}
