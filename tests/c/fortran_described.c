/* What a program says of its Fortran compiler is said once, and told back.
   MPI-5.0: Application Binary Interface. */
#include "check.h"

static void check(MPI_Info info, const char *key, const char *expected) {
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag && strcmp(value, expected) == 0, "%s is %s", key, flag ? value : "not there");
}

int main(int argc, char **argv) {
    MPI_Info info, told;
    int yes = 1, no = 0, other = -1, found_yes = 5, found_no = 5, is_set = 5;
    begin(&argc, &argv);
    OK(MPI_Abi_get_fortran_info(&told));
    CHECK(told == MPI_INFO_NULL, "nothing is known of Fortran");
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_integer_size", "8"));
    GIVES(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_set(info, "mpi_integer_size", " 4 "));
    OK(MPI_Info_set(info, "mpi_integer16_supported", "true"));
    OK(MPI_Abi_set_fortran_info(info));
    GIVES(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&told));
    check(told, "mpi_integer_size", "4");
    check(told, "mpi_double_precision_size", "8");
    check(told, "mpi_integer16_supported", "true");
    OK(MPI_Info_free(&told));

    OK(MPI_Abi_get_fortran_booleans(sizeof yes, &found_yes, &found_no, &is_set));
    EQUAL(is_set, 0);
    OK(MPI_Abi_set_fortran_booleans(sizeof yes, &yes, &no));
    GIVES(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(sizeof yes, &other, &no));
    OK(MPI_Abi_get_fortran_booleans(sizeof yes, &found_yes, &found_no, &is_set));
    EQUAL(is_set, 1);
    EQUAL(found_yes, yes);
    EQUAL(found_no, no);
    return end();
}
