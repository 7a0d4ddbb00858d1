/* A session gets the thread level that it asks for, unless somebody came before who promised that calls are not
   concurrent. MPI-5.0: Process Initialization, MPI and Threads. */
#include "session.h"

static MPI_Session session;

static const char *const names[] = {
    "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
static const int levels[] = {
    MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

/* The place in `names` of what a session gets that asks for the one at `wanted`, or for none. */
static int level_of_session(int wanted, const char *key) {
    MPI_Info info, used;
    MPI_Session made;
    int given = 0;
    OK(MPI_Info_create(&info));
    if (wanted >= 0)
        OK(MPI_Info_set(info, key, names[wanted]));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &made));
    OK(MPI_Session_get_info(made, &used));
    while (given < 4 && strcmp(value_of(used, key), names[given]) != 0)
        given++;
    CHECK(given < 4, "the level is '%s'", value_of(used, key));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&used));
    OK(MPI_Session_finalize(&made));
    return given;
}

/* The arguments: who comes first, w(orld) or s(ession), and the place of its level. */
int main(int argc, char **argv) {
    int first = atoi(argv[2]), provided, most;
    if (argv[1][0] == 'w') {
        OK(MPI_Init_thread(&argc, &argv, levels[first], &provided));
        joined();
        EQUAL(provided, levels[first]);
        most = first == 3 ? 3 : 2;
    } else {
        most = level_of_session(first, "thread_level") == 0 ? 2 : 3;
    }
    for (int wanted = 0; wanted < 4; wanted++) {
        int expected = wanted < most ? wanted : most;
        EQUAL(level_of_session(wanted, "thread_level"), expected);
        EQUAL(level_of_session(wanted, "mpi_thread_support_level"), expected);
    }
    EQUAL(level_of_session(-1, "thread_level"), most);
    if (argv[1][0] == 'w')
        return end();
    session = opened();
    OK(MPI_Session_finalize(&session));
    return passed();
}
