/* With OXMPI_CHECK=1 ranks that call the same collective with as many bytes, but of other types, get an error that
   names both signatures; those whose datatypes differ, but not in their signatures, do not. What follows works.
   MPI-5.0: Collective Communication, Introduction and Overview (type signatures must match). */
#include "check.h"

static MPI_Datatype both;
static char from[512], into[512];

/* A description of 16 bytes: the same types on all ranks, or not. */
struct side {
    MPI_Datatype type;
    int count;
};

static int call(int form, int nonblocking, const struct side *side) {
    MPI_Request request = MPI_REQUEST_NULL;
    int count = side->count, code = MPI_ERR_OTHER;
    MPI_Datatype type = side->type;
    switch (form) {
    case 0:
        if (!nonblocking)
            return MPI_Bcast(into, count, type, 0, MPI_COMM_WORLD);
        code = MPI_Ibcast(into, count, type, 0, MPI_COMM_WORLD, &request);
        break;
    case 1:
        if (!nonblocking)
            return MPI_Allgather(from, count, type, into, count, type, MPI_COMM_WORLD);
        code = MPI_Iallgather(from, count, type, into, count, type, MPI_COMM_WORLD, &request);
        break;
    case 2:
        if (!nonblocking)
            return MPI_Gather(from, count, type, into, count, type, size - 1, MPI_COMM_WORLD);
        code = MPI_Igather(from, count, type, into, count, type, size - 1, MPI_COMM_WORLD, &request);
        break;
    case 3:
        OK(MPI_Alltoall_init(from, count, type, into, count, type, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
        OK(MPI_Start(&request));
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        OK(MPI_Request_free(&request));
        return code;
    }
    OK(code);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void differ(int form, int nonblocking, struct side usual, struct side other, int deviant, const char *one,
                   const char *two) {
    int first = call(form, nonblocking, rank == deviant ? &other : &usual), second, sum = 0, code;
    second = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EQUAL(sum, size * (size - 1) / 2);
    /* A persistent collective has no other that follows it. */
    if (form != 3)
        CHECK((first == MPI_SUCCESS) != (second == MPI_SUCCESS), "form %d gave %d and %d", form, first, second);
    code = first ? first : second;
    GIVES(MPI_ERR_TYPE, code);
    CHECK(strstr(text_of(code), one) && strstr(text_of(code), two), "'%s'", text_of(code));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    struct side ints = {MPI_INT, 4}, doubles = {MPI_DOUBLE, 2}, vectors, mixed, packed = {MPI_PACKED, 16};
    struct side two_ints = {MPI_2INT, 2}, double_ints = {MPI_DOUBLE_INT, 1}, parts;
    MPI_Datatype pairs, double_int;
    MPI_Datatype members[] = {MPI_DOUBLE, MPI_INT};
    OK(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, members, &double_int));
    OK(MPI_Type_commit(&double_int));
    parts = (struct side){double_int, 1};
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pairs));
    OK(MPI_Type_commit(&pairs));
    OK(MPI_Type_create_struct(2, (int[]){2, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &both));
    OK(MPI_Type_commit(&both));
    vectors = (struct side){pairs, 2};
    mixed = (struct side){both, 1};
    for (int deviant = 0; deviant < size; deviant++) {
        for (int form = 0; form < 4; form++)
            for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
                differ(form, nonblocking, ints, doubles, deviant, "with 4 MPI_INT", "with 2 MPI_DOUBLE");
                differ(form, nonblocking, vectors, mixed, deviant, "with 4 MPI_INT",
                       "with 2 MPI_INT, 1 MPI_DOUBLE");
                OK(call(form, nonblocking, rank == deviant ? &ints : &vectors));
                OK(call(form, nonblocking, rank == deviant ? &ints : &packed));
                OK(call(form, nonblocking, rank == deviant ? &ints : &two_ints));
                OK(call(form, nonblocking, rank == deviant ? &parts : &double_ints));
            }
    }
    OK(MPI_Type_free(&double_int));
    OK(MPI_Type_free(&pairs));
    OK(MPI_Type_free(&both));
    return end();
}
