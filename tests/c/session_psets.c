/* The process sets, their names, sizes and groups. MPI-5.0: Process Initialization, Process Sets; Runtime Query
   Functions. */
#include "session.h"

static MPI_Session session;

static void check_set(const char *name, int members, int place) {
    char expected[12];
    MPI_Group group;
    MPI_Info info;
    int found;
    OK(MPI_Session_get_pset_info(session, name, &info));
    sprintf(expected, "%d", members);
    CHECK(strcmp(value_of(info, "mpi_size"), expected) == 0, "%s has %s members", name, value_of(info, "mpi_size"));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Group_size(group, &found));
    EQUAL(found, members);
    OK(MPI_Group_rank(group, &found));
    EQUAL(found, place);
    OK(MPI_Group_free(&group));
}

static void check_names(void) {
    char name[100];
    int count, length, worlds = 0, selves = 0;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2, "there are %d", count);
    for (int n = 0; n < count; n++) {
        length = 0;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, NULL));
        CHECK(length > 1 && length < 100, "a name of %d bytes", length);
        int needed = length;
        memset(name, 'x', sizeof name);
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        EQUAL(length, needed);
        EQUAL(strlen(name) + 1, needed);
        worlds += strcmp(name, "mpi://WORLD") == 0;
        selves += strcmp(name, "mpi://SELF") == 0;
        length = 4;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        EQUAL(length, needed);
        CHECK(strcmp(name, "mpi") == 0, "cut: %s", name);
    }
    EQUAL(worlds, 1);
    EQUAL(selves, 1);
}

int main(void) {
    session = opened();
    check_names();
    check_set("mpi://WORLD", size, rank);
    check_set("mpi://SELF", 1, 0);
    /* Names are URIs. */
    check_set("mpi://world", size, rank);
    check_set("MPI://Self", 1, 0);
    OK(MPI_Session_finalize(&session));
    return passed();
}
