/* Get_elements counts basic elements, those of a part of a datatype too; Get_count counts whole datatypes.
   MPI-5.0: Datatypes, Use of General Datatypes in Communication; External Interfaces, Associating Information with
   Status. */
#include "check.h"

enum { MOST = 200 };

/* What the functions of every width say of a status. */
static void check_counts(const MPI_Status *status, MPI_Datatype type, MPI_Count elements, MPI_Count count) {
    int small;
    MPI_Count large;
    OK(MPI_Get_elements(status, type, &small));
    EQUAL(small, elements);
    OK(MPI_Get_elements_c(status, type, &large));
    EQUAL(large, elements);
    OK(MPI_Get_elements_x(status, type, &large));
    EQUAL(large, elements);
    OK(MPI_Get_count(status, type, &small));
    EQUAL(small, count);
    OK(MPI_Get_count_c(status, type, &large));
    EQUAL(large, count);
}

/* Receives `bytes` bytes as elements of `type`. */
static MPI_Status received(MPI_Datatype type, int bytes) {
    static char sent[MOST * 32], found[MOST * 64];
    MPI_Status status;
    MPI_Request request;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Irecv(found + MOST * 32, MOST / 2, type, left, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Send(sent, bytes, MPI_PACKED, right, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    return status;
}

/* Elements of `sizes` bytes, over and over: `kinds` of them make one of `type`. */
static void check_type(MPI_Datatype type, const int *sizes, int kinds) {
    int bytes = 0;
    OK(MPI_Type_commit(&type));
    for (int elements = 0; elements <= 3 * kinds; elements++) {
        MPI_Status status = received(type, bytes), set = status;
        check_counts(&status, type, elements, elements % kinds ? MPI_UNDEFINED : elements / kinds);
        OK(MPI_Status_set_elements(&set, type, elements));
        check_counts(&set, type, elements, elements % kinds ? MPI_UNDEFINED : elements / kinds);
        check_counts(&set, MPI_BYTE, bytes, bytes);
        OK(MPI_Status_set_elements_c(&set, MPI_BYTE, 77));
        OK(MPI_Status_set_elements_x(&set, type, elements));
        check_counts(&set, MPI_BYTE, bytes, bytes);
        if (sizes[elements % kinds] > 1) {
            status = received(type, bytes + 1);
            check_counts(&status, type, MPI_UNDEFINED, MPI_UNDEFINED);
        }
        bytes += sizes[elements % kinds];
    }
}

/* int, double, char[2], short, in an order that is not that of memory, with gaps. */
static MPI_Datatype structure(void) {
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_SHORT}, made;
    int lengths[] = {1, 1, 2, 1};
    MPI_Aint places[] = {16, 0, 12, 10};
    OK(MPI_Type_create_struct(4, lengths, places, types, &made));
    return made;
}

static void check_derived(void) {
    static const int of_structure[] = {4, 8, 1, 1, 2};
    static const int of_two[] = {4, 8, 1, 1, 2, 4, 8, 1, 1, 2};
    static const int of_ints[] = {4, 4, 4, 4, 4, 4}, of_pair[] = {8, 4}, of_pairs[] = {2, 4, 2, 4};
    int lengths[] = {2, 0, 4}, places[] = {9, 0, 1};
    MPI_Datatype type = structure(), inner = type;
    check_type(type, of_structure, 5);
    OK(MPI_Type_create_hvector(2, 1, -32, inner, &type));
    check_type(type, of_two, 10);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_dup(inner, &type));
    check_type(type, of_structure, 5);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_resized(inner, -4, 40, &type));
    check_type(type, of_structure, 5);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_indexed(3, lengths, places, MPI_INT, &type));
    check_type(type, of_ints, 6);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 1}, MPI_ORDER_FORTRAN, MPI_INT, &type));
    check_type(type, of_ints, 6);
    OK(MPI_Type_free(&type));
    check_type(MPI_DOUBLE_INT, of_pair, 2);
    OK(MPI_Type_contiguous(2, MPI_SHORT_INT, &type));
    check_type(type, of_pairs, 4);
    OK(MPI_Type_free(&type));
}

static void check_empty_type(void) {
    MPI_Datatype none;
    MPI_Status status;
    OK(MPI_Type_contiguous(0, MPI_INT, &none));
    OK(MPI_Type_commit(&none));
    status = received(none, 0);
    check_counts(&status, none, 0, 0);
    OK(MPI_Status_set_elements(&status, MPI_INT, 1));
    check_counts(&status, none, MPI_UNDEFINED, MPI_UNDEFINED);
    GIVES(MPI_ERR_COUNT, MPI_Status_set_elements(&status, none, 1));
    OK(MPI_Type_free(&none));
}

/* What does not fit is MPI_UNDEFINED. */
static void check_large(void) {
    MPI_Status status;
    MPI_Count large, many = (MPI_Count)1 << 40;
    int small;
    OK(MPI_Status_set_elements_c(&status, MPI_INT, many));
    OK(MPI_Get_elements(&status, MPI_INT, &small));
    EQUAL(small, MPI_UNDEFINED);
    OK(MPI_Get_count(&status, MPI_INT, &small));
    EQUAL(small, MPI_UNDEFINED);
    OK(MPI_Get_elements_x(&status, MPI_INT, &large));
    EQUAL(large, many);
    OK(MPI_Get_count_c(&status, MPI_INT, &large));
    EQUAL(large, many);
}

static void check_refused(void) {
    MPI_Status status;
    int count;
    OK(MPI_Status_set_elements(&status, MPI_INT, 3));
    GIVES(MPI_ERR_TYPE, MPI_Get_elements(&status, MPI_DATATYPE_NULL, &count));
    GIVES(MPI_ERR_TYPE, MPI_Get_count(&status, MPI_DATATYPE_NULL, &count));
    GIVES(MPI_ERR_TYPE, MPI_Status_set_elements(&status, MPI_DATATYPE_NULL, 3));
    GIVES(MPI_ERR_COUNT, MPI_Status_set_elements(&status, MPI_INT, -1));
    GIVES(MPI_ERR_ARG, MPI_Get_elements(&status, MPI_INT, NULL));
    check_counts(&status, MPI_INT, 3, 3);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_derived();
    check_empty_type();
    check_large();
    check_refused();
    return end();
}
