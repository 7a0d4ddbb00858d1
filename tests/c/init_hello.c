/* Begins and ends, and says who and where it is. MPI-5.0: Process Initialization; Environmental Inquiries. */
#include "check.h"

int main(int argc, char **argv) {
    char name[MPI_MAX_PROCESSOR_NAME], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor;
    OK(MPI_Get_version(&major, &minor));
    EQUAL(major, MPI_VERSION);
    EQUAL(minor, MPI_SUBVERSION);
    OK(MPI_Get_library_version(version, &length));
    CHECK(strstr(version, "oxmpi") && (int)strlen(version) == length, "'%s'", version);
    begin(&argc, &argv);
    OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && (int)strlen(name) == length, "'%s'", name);
    double time = MPI_Wtime();
    CHECK(MPI_Wtick() > 0 && MPI_Wtime() >= time, "time does not go back");
    OK(MPI_Abi_get_version(&major, &minor));
    EQUAL(major, MPI_ABI_VERSION);
    EQUAL(minor, MPI_ABI_SUBVERSION);
    return end();
}
