/* Predefined datatypes by what they are, and the limits of names. MPI-5.0: Language Bindings, Support for
   Size-Specific MPI Datatypes; Collective Communication, MINLOC and MAXLOC; Naming Objects. */
#include "check.h"

static void check_sizes(int class, const int *sizes, int count, const char *prefix) {
    for (int i = 0; i < count; i++) {
        MPI_Datatype type;
        char name[MPI_MAX_OBJECT_NAME], expected[64];
        int bytes, length, integers, addresses, types, combiner;
        OK(MPI_Type_match_size(class, sizes[i], &type));
        OK(MPI_Type_size(type, &bytes));
        EQUAL(bytes, sizes[i]);
        OK(MPI_Type_get_name(type, name, &length));
        snprintf(expected, sizeof expected, "MPI_%s%d", prefix, sizes[i]);
        CHECK(strcmp(name, expected) == 0 && length == (int)strlen(expected), "it is called %s", name);
        OK(MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner));
        EQUAL(combiner, MPI_COMBINER_NAMED);
    }
}

static void check_match(void) {
    static const int integers[] = {1, 2, 4, 8, 16}, reals[] = {2, 4, 8, 16}, complexes[] = {4, 8, 16, 32};
    MPI_Datatype type = MPI_CHAR;
    check_sizes(MPI_TYPECLASS_INTEGER, integers, 5, "INTEGER");
    check_sizes(MPI_TYPECLASS_REAL, reals, 4, "REAL");
    check_sizes(MPI_TYPECLASS_COMPLEX, complexes, 4, "COMPLEX");
    GIVES(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &type));
    GIVES(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_INTEGER, -1, &type));
    GIVES(MPI_ERR_ARG, MPI_Type_match_size(-77, 4, &type));
    GIVES(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL));
    CHECK(type == MPI_CHAR, "what fails leaves the handle alone");
}

static void check_pairs(void) {
    const MPI_Datatype pairs[][3] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT}, {MPI_INT, MPI_INT, MPI_2INT}, {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT}, {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}, {MPI_DOUBLE, MPI_DOUBLE, MPI_DATATYPE_NULL},
        {MPI_BYTE, MPI_INT, MPI_DATATYPE_NULL}};
    MPI_Datatype found;
    for (int i = 0; i < 10; i++) {
        OK(MPI_Type_get_value_index(pairs[i][0], pairs[i][1], &found));
        CHECK(found == pairs[i][2], "pair %d", i);
    }
    GIVES(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &found));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_INT, MPI_DATATYPE_NULL, &found));
    GIVES(MPI_ERR_ARG, MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL));
}

static void check_names(void) {
    MPI_Datatype type;
    char name[MPI_MAX_OBJECT_NAME], longest[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    OK(MPI_Type_set_name(type, longest));
    OK(MPI_Type_get_name(type, name, &length));
    EQUAL(length, MPI_MAX_OBJECT_NAME - 1);
    GIVES(MPI_ERR_ARG, MPI_Type_set_name(type, NULL));
    GIVES(MPI_ERR_ARG, MPI_Type_get_name(type, NULL, &length));
    GIVES(MPI_ERR_ARG, MPI_Type_get_name(type, name, NULL));
    GIVES(MPI_ERR_TYPE, MPI_Type_set_name(MPI_DATATYPE_NULL, "none"));
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_match();
    check_pairs();
    check_names();
    return end();
}
