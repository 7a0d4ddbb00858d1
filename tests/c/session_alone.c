/* A session needs neither MPI_Init nor any other rank, and the world model does not exist for it.
   MPI-5.0: Process Initialization, The Sessions Model. */
#include "session.h"

static MPI_Session session;

int main(void) {
    char name[MPI_MAX_PROCESSOR_NAME];
    int flag, length, provided;
    MPI_Datatype pair;
    MPI_Info used;
    void *memory;
    MPI_Aint extent, lb;
    session = opened();
    CHECK(session != MPI_SESSION_NULL, "it is open");
    OK(MPI_Initialized(&flag));
    CHECK(!flag, "that speaks of the world model");
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "that speaks of the world model");
    OK(MPI_Query_thread(&provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag, "this thread opened the session");
    OK(MPI_Session_get_info(session, &used));
    CHECK(strcmp(value_of(used, "mpi_memory_alloc_kinds"), "mpi,system") == 0, "kinds of memory");
    OK(MPI_Info_free(&used));
    OK(MPI_Get_processor_name(name, &length));
    OK(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory));
    OK(MPI_Free_mem(memory));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_get_extent(pair, &lb, &extent));
    EQUAL(extent, 2 * sizeof(int));
    OK(MPI_Type_free(&pair));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL, "it is closed");
    OK(MPI_Initialized(&flag));
    CHECK(!flag, "still");
    OK(MPI_Finalized(&flag));
    CHECK(!flag, "still");
    return passed();
}
