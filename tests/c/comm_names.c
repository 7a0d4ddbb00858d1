/* Names of communicators: predefined ones, own ones, long ones.
   MPI-5.0: Groups, Contexts, Communicators, Naming Objects. */
#include "check.h"

static void expect(MPI_Comm comm, const char *expected) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Comm_get_name(comm, name, &length));
    CHECK(strcmp(name, expected) == 0, "'%s' is not '%s'", name, expected);
    EQUAL(length, strlen(expected));
}

int main(int argc, char **argv) {
    MPI_Comm copy;
    char longest[MPI_MAX_OBJECT_NAME];
    begin(&argc, &argv);
    expect(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    expect(MPI_COMM_SELF, "MPI_COMM_SELF");
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    expect(copy, "");
    OK(MPI_Comm_set_name(copy, "rows of the matrix"));
    expect(copy, "rows of the matrix");
    OK(MPI_Comm_set_name(copy, "no \xe9 of UTF-8"));
    expect(copy, "no \xe9 of UTF-8");
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    OK(MPI_Comm_set_name(copy, longest));
    expect(copy, longest);
    OK(MPI_Comm_set_name(MPI_COMM_WORLD, "everybody"));
    expect(MPI_COMM_WORLD, "everybody");
    OK(MPI_Comm_free(&copy));
    return end();
}
