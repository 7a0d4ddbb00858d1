/* Communicators of groups that sessions give, before, without and beside the world model.
   MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_CREATE_FROM_GROUP. */
#include "session.h"

static MPI_Session session;

static MPI_Comm comm_of(const char *set, const char *tag) {
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static void check_sum(MPI_Comm comm) {
    int me, count, sum;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &count));
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, count * (count - 1) / 2);
}

/* Of the predefined attributes sessions know one. MPI-5.0: MPI Environmental Management, Environmental Inquiries. */
static void check_attributes(MPI_Comm comm) {
    const int of_world[] = {MPI_APPNUM, MPI_HOST, MPI_IO, MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE, MPI_WTIME_IS_GLOBAL};
    int *greatest, *other, flag;
    OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &greatest, &flag));
    CHECK(flag && *greatest >= 32767, "the least upper bound of tags");
    for (int i = 0; i < 6; i++) {
        OK(MPI_Comm_get_attr(comm, of_world[i], &other, &flag));
        CHECK(!flag, "%d describes the world", of_world[i]);
        GIVES(MPI_ERR_KEYVAL, MPI_Comm_set_attr(comm, of_world[i], NULL));
    }
}

static void check_two(void) {
    int result;
    MPI_Comm first = comm_of("mpi://WORLD", "first"), second = comm_of("mpi://WORLD", "");
    OK(MPI_Comm_rank(first, &rank));
    OK(MPI_Comm_size(first, &size));
    OK(MPI_Comm_compare(first, second, &result));
    EQUAL(result, MPI_CONGRUENT);
    MPI_Comm copy;
    OK(MPI_Comm_dup(first, &copy));
    check_attributes(first);
    check_attributes(copy);
    OK(MPI_Comm_free(&copy));
    check_sum(second);
    check_sum(first);
    GIVES(MPI_ERR_RANK, MPI_Send(&rank, 1, MPI_INT, size, 0, first)); /* to the handler it was made with */
    MPI_Comm self = comm_of("mpi://SELF", "self");
    check_sum(self);
    OK(MPI_Comm_free(&self));
    OK(MPI_Comm_free(&first));
    check_sum(second);
    OK(MPI_Comm_free(&second));
}

static void check_errors(void) {
    MPI_Comm comm = MPI_COMM_NULL;
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    CHECK(comm == MPI_COMM_NULL, "nobody is a member");
    GIVES(MPI_ERR_GROUP,
          MPI_Comm_create_from_group(MPI_GROUP_NULL, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
}

/* The kinds of memory that the session has are those of its communicators. */
static void check_memory_kinds(void) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_memory_alloc_kinds", "mpi:alloc_mem"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    OK(MPI_Info_free(&info));
    MPI_Comm comm = comm_of("mpi://SELF", "kinds");
    OK(MPI_Comm_get_info(comm, &info));
    CHECK(strcmp(value_of(info, "mpi_memory_alloc_kinds"), "mpi,system,mpi:alloc_mem") == 0, "as asked for");
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv) {
    check_memory_kinds();
    for (int round = 0; round < 3; round++) {
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        check_two();
        check_errors();
        OK(MPI_Session_finalize(&session));
    }
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    begin(&argc, &argv);
    check_two();
    MPI_Comm kept = comm_of("mpi://WORLD", "kept");
    end();
    check_sum(kept);
    OK(MPI_Comm_free(&kept));
    OK(MPI_Session_finalize(&session));
    return 0;
}
