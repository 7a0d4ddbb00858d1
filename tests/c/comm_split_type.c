/* Split by the parts of the machine that processes are bound to, and by process sets. With an argument, each rank
   is bound to one core. MPI-5.0: Groups, Contexts, Communicators, MPI_COMM_SPLIT_TYPE. */
#include "hosts.h"

static int bound;

/* The size of the part that this rank becomes a member of, 0 if of none; it is last of its part. */
static int part(int type, const char *key, const char *value, MPI_Info *info_out) {
    MPI_Comm comm;
    MPI_Info info;
    int count = 0, last;
    OK(MPI_Info_create(&info));
    if (key)
        OK(MPI_Info_set(info, key, value));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, size - rank, info, &comm));
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_size(comm, &count));
        OK(MPI_Bcast(&(int){rank}, 1, MPI_INT, 0, comm));
        OK(MPI_Allreduce(&rank, &last, 1, MPI_INT, MPI_MAX, comm));
        int mine;
        OK(MPI_Comm_rank(comm, &mine));
        CHECK((mine == 0) == (last == rank), "keys give the order");
        OK(MPI_Comm_free(&comm));
    }
    if (info_out)
        *info_out = info;
    else
        OK(MPI_Info_free(&info));
    return count;
}

static void check_guided(void) {
    const char *key = "mpi_hw_resource_type";
    int after, here = on_this_host(&after);
    EQUAL(part(MPI_COMM_TYPE_SHARED, NULL, NULL, NULL), here);
    EQUAL(part(MPI_COMM_TYPE_HW_GUIDED, key, "mpi_shared_memory", NULL), here);
    EQUAL(part(MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi_shared_memory", NULL), here);
    EQUAL(part(MPI_COMM_TYPE_HW_GUIDED, key, "no such thing", NULL), 0);
    EQUAL(part(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL, NULL), 0);
    if (bound)
        EQUAL(part(MPI_COMM_TYPE_HW_GUIDED, key, "hwloc://Core", NULL), 1);
    EQUAL(part(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF", NULL), 1);
    EQUAL(part(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://world", NULL), size);
    EQUAL(part(rank ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, NULL, NULL, NULL), rank == 0);
}

/* Bound to cores, ranks are told apart; some rank names no type without leaving the others waiting. */
static void check_unguided(void) {
    MPI_Info info;
    int flag, buflen = 64, count = part(MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, &info);
    char kind[64];
    OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &buflen, kind, &flag));
    EQUAL(flag, count != 0);
    if (bound && size > 1)
        CHECK(count > 0 && count < size, "%d of %d", count, size);
    OK(MPI_Info_free(&info));
    part(rank == size - 1 ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, NULL, NULL, NULL);
}

static void check_resources(void) {
    MPI_Info info;
    int flag, buflen = 8;
    char value[8];
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_string(info, "mpi_shared_memory", &buflen, value, &flag));
    CHECK(flag && strcmp(value, "true") == 0, "every rank is on a machine");
    buflen = 8;
    OK(MPI_Info_get_string(info, "hwloc://Core", &buflen, value, &flag));
    CHECK(flag && (!bound || strcmp(value, "true") == 0), "bound to a core");
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv) {
    MPI_Comm none = MPI_COMM_NULL;
    begin(&argc, &argv);
    bound = argc > 1;
    for (int round = 0; round < 5; round++) {
        check_guided();
        check_unguided();
    }
    check_resources();
    GIVES(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, -7, 0, MPI_INFO_NULL, &none));
    return end();
}
