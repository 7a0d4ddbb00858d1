/* Every level of thread support can be asked for, and what is provided is what Query_thread says.
   MPI-5.0: Process Initialization, MPI and Threads. */
#include "check.h"

int main(int argc, char **argv) {
    static const int levels[] = {
        MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int wanted, provided, found, flag;
    wanted = levels[argc > 1 ? atoi(argv[1]) : 0];
    OK(MPI_Initialized(&flag));
    CHECK(!flag, "before");
    OK(MPI_Init_thread(&argc, &argv, wanted, &provided));
    joined();
    CHECK(provided >= wanted, "level %d", provided);
    OK(MPI_Query_thread(&found));
    EQUAL(found, provided);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag, "this thread initialised MPI");
    OK(MPI_Initialized(&flag));
    CHECK(flag, "now");
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "not yet");
    end();
    OK(MPI_Finalized(&flag));
    CHECK(flag, "after");
    OK(MPI_Initialized(&flag));
    CHECK(flag, "for ever");
    return 0;
}
