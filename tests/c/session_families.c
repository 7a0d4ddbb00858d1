/* Communicators of a session's groups, without the world model: they carry messages and collectives, are parents
   of others, and several sets of ranks can have theirs at the same time. MPI-5.0: Groups, Contexts, Communicators,
   and Caching, Communicator Constructors. */
#include "session.h"

static MPI_Session session;

static MPI_Comm made_of(MPI_Group group, const char *tag) {
    MPI_Comm comm;
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    return comm;
}

/* Collectives and a ring of messages. */
static void use(MPI_Comm comm) {
    int here, members, sum, from, to;
    OK(MPI_Comm_rank(comm, &here));
    OK(MPI_Comm_size(comm, &members));
    OK(MPI_Allreduce(&here, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, members * (members - 1) / 2);
    to = (here + 1) % members;
    OK(MPI_Sendrecv(&here, 1, MPI_INT, to, 5, &from, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE));
    EQUAL(from, (here + members - 1) % members);
    OK(MPI_Barrier(comm));
}

static void use_family(MPI_Comm comm) {
    MPI_Comm copy, half;
    int here;
    use(comm);
    OK(MPI_Comm_dup(comm, &copy));
    use(copy);
    OK(MPI_Comm_rank(comm, &here));
    OK(MPI_Comm_split(copy, here % 2, -here, &half));
    OK(MPI_Comm_free(&copy));
    use(half);
    OK(MPI_Comm_free(&half));
}

int main(void) {
    MPI_Group world, self, part;
    MPI_Comm comm, alone, of_part;
    session = opened();
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_from_session_pset(session, "mpi://SELF", &self));
    comm = made_of(world, "oxmpi://tests/world");
    alone = made_of(self, "oxmpi://tests/self");
    /* Those of odd rank and those of even rank, each by themselves, with the same tag. */
    int first = rank % 2, range[1][3] = {{first, size - 1, 2}};
    OK(MPI_Group_range_incl(world, 1, range, &part));
    of_part = made_of(part, "oxmpi://tests/part");
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&part));
    use_family(comm);
    use_family(alone);
    use_family(of_part);
    OK(MPI_Comm_free(&of_part));
    OK(MPI_Comm_free(&alone));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return passed();
}
