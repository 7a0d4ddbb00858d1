/* Groups of a session take part in all operations on groups, and end with it. */
#include "session.h"

static MPI_Session session;

int main(void) {
    MPI_Session other;
    MPI_Group world, self, without, both, foreign, empty;
    int found, place = 0;
    session = opened();
    other = opened();
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    OK(MPI_Group_from_session_pset(other, "mpi://WORLD", &foreign));
    OK(MPI_Group_translate_ranks(self, 1, &place, world, &found));
    EQUAL(found, rank);
    OK(MPI_Group_difference(world, self, &without));
    OK(MPI_Group_size(without, &found));
    EQUAL(found, size - 1);
    OK(MPI_Group_union(without, self, &both));
    OK(MPI_Group_compare(both, world, &found));
    CHECK(found == (rank == size - 1 ? MPI_IDENT : MPI_SIMILAR), "comparison %d", found);
    OK(MPI_Group_intersection(without, self, &empty));
    CHECK(empty == MPI_GROUP_EMPTY, "disjoint");
    OK(MPI_Session_finalize(&session));
    /* The other session is not concerned. */
    OK(MPI_Group_size(foreign, &found));
    EQUAL(found, size);
    OK(MPI_Group_free(&foreign));
    OK(MPI_Session_finalize(&other));
    return passed();
}
