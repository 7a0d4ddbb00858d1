/* Fortran's numbers by precision and range: predefined, the same handle each time, known by what they were made
   of, and reduced as what they stand for.
   MPI-5.0: Language Bindings, Support for Size-Specific MPI Datatypes. */
#include "check.h"

static int is_made_of(MPI_Datatype type, int combiner, int count, int p, int r) {
    int integers[2], counts[3], found;
    MPI_Aint addresses[1];
    MPI_Datatype types[1];
    OK(MPI_Type_get_envelope(type, counts, counts + 1, counts + 2, &found));
    EQUAL(counts[0], count);
    EQUAL(counts[1] + counts[2], 0);
    OK(MPI_Type_get_contents(type, count, 0, 0, integers, addresses, types));
    return found == combiner && (count == 1 ? integers[0] == r : integers[0] == p && integers[1] == r);
}

static void check_size(MPI_Datatype type, int expected) {
    int bytes, count;
    MPI_Status status;
    MPI_Datatype copy = type;
    OK(MPI_Type_size(type, &bytes));
    EQUAL(bytes, expected);
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&copy));
    CHECK(copy == type, "it is predefined");
    OK(MPI_Status_set_elements(&status, type, 5));
    OK(MPI_Get_elements(&status, type, &count));
    EQUAL(count, 5);
    OK(MPI_Get_count(&status, type, &count));
    EQUAL(count, 5);
}

static void check_integers(void) {
    static const int ranges[][2] = {{0, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 4}, {9, 4}, {10, 8}, {18, 8}, {19, 16}};
    MPI_Datatype type, again;
    for (int i = 0; i < 9; i++) {
        OK(MPI_Type_create_f90_integer(ranges[i][0], &type));
        OK(MPI_Type_create_f90_integer(ranges[i][0], &again));
        CHECK(type == again, "each time the same");
        CHECK(is_made_of(type, MPI_COMBINER_F90_INTEGER, 1, 0, ranges[i][0]), "range %d", ranges[i][0]);
        check_size(type, ranges[i][1]);
    }
    GIVES(MPI_ERR_ARG, MPI_Type_create_f90_integer(39, &type));
}

static void check_reals(void) {
    static const int kinds[][3] = {{6, 37, 4}, {MPI_UNDEFINED, 30, 4}, {6, MPI_UNDEFINED, 4}, {7, 10, 8},
        {6, 38, 8}, {15, 307, 8}, {16, MPI_UNDEFINED, 16}};
    MPI_Datatype real, complex, again;
    for (int i = 0; i < 7; i++) {
        int p = kinds[i][0], r = kinds[i][1], bytes = kinds[i][2];
        OK(MPI_Type_create_f90_real(p, r, &real));
        OK(MPI_Type_create_f90_complex(p, r, &complex));
        OK(MPI_Type_create_f90_complex(p, r, &again));
        CHECK(complex == again && complex != real, "each time the same");
        CHECK(is_made_of(real, MPI_COMBINER_F90_REAL, 2, p, r), "precision %d, range %d", p, r);
        CHECK(is_made_of(complex, MPI_COMBINER_F90_COMPLEX, 2, p, r), "precision %d, range %d", p, r);
        check_size(real, bytes);
        check_size(complex, 2 * bytes);
    }
    GIVES(MPI_ERR_ARG, MPI_Type_create_f90_real(99, 10, &real));
    GIVES(MPI_ERR_ARG, MPI_Type_create_f90_complex(10, 99999, &real));
    GIVES(MPI_ERR_ARG, MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &real));
    GIVES(MPI_ERR_ARG, MPI_Type_create_f90_real(6, 30, NULL));
}

static void check_reductions(void) {
    MPI_Datatype integer, real, complex;
    long long mine = rank + 1, sum;
    double values[2] = {rank, 1}, greatest, sums[2];
    OK(MPI_Type_create_f90_integer(12, &integer));
    OK(MPI_Type_create_f90_real(12, 100, &real));
    OK(MPI_Type_create_f90_complex(12, 100, &complex));
    OK(MPI_Allreduce(&mine, &sum, 1, integer, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size + 1) / 2);
    OK(MPI_Allreduce(values, &greatest, 1, real, MPI_MAX, MPI_COMM_WORLD));
    EQUAL(greatest, size - 1);
    OK(MPI_Allreduce(values, sums, 1, complex, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sums[0], size * (size - 1) / 2);
    EQUAL(sums[1], size);
    OK(MPI_Allreduce(&mine, &sum, 1, integer, MPI_BOR, MPI_COMM_WORLD));
    GIVES(MPI_ERR_OP, MPI_Allreduce(values, sums, 1, real, MPI_BAND, MPI_COMM_WORLD));
    GIVES(MPI_ERR_OP, MPI_Allreduce(values, sums, 1, complex, MPI_MAX, MPI_COMM_WORLD));
}

/* In another datatype they are found again as they are. */
static void check_inside(void) {
    MPI_Datatype real, triple, found;
    int integers[1], bytes;
    OK(MPI_Type_create_f90_real(6, 37, &real));
    OK(MPI_Type_contiguous(3, real, &triple));
    OK(MPI_Type_get_contents(triple, 1, 0, 1, integers, NULL, &found));
    CHECK(found == real, "predefined datatypes come back as they are");
    OK(MPI_Type_size(triple, &bytes));
    EQUAL(bytes, 12);
    OK(MPI_Type_free(&triple));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_integers();
    check_reals();
    check_reductions();
    check_inside();
    return end();
}
