/* Names of datatypes: a type with a synonym goes by the name that the standard lists first.
   MPI-5.0: Point-to-Point Communication, Message Data; Groups, Contexts, Communicators, Naming Objects. */
#include "check.h"

static void expect(MPI_Datatype type, const char *expected) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Type_get_name(type, name, &length));
    CHECK(strcmp(name, expected) == 0, "'%s' is not '%s'", name, expected);
    EQUAL(length, strlen(expected));
}

int main(int argc, char **argv) {
    MPI_Datatype pair, copy;
    begin(&argc, &argv);
    expect(MPI_DOUBLE, "MPI_DOUBLE");
    expect(MPI_DOUBLE_INT, "MPI_DOUBLE_INT");
    expect(MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT");
    expect(MPI_LONG_LONG, "MPI_LONG_LONG_INT");
    expect(MPI_C_COMPLEX, "MPI_C_COMPLEX");
    expect(MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX");
    expect(MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL");
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    expect(pair, "");
    OK(MPI_Type_set_name(pair, "row and column"));
    expect(pair, "row and column");
    OK(MPI_Type_set_name(pair, "no \xe9 of UTF-8"));
    expect(pair, "no \xe9 of UTF-8");
    OK(MPI_Type_dup(pair, &copy));
    expect(copy, "");
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_set_name(MPI_INT, "whole number"));
    expect(MPI_INT, "whole number");
    return end();
}
