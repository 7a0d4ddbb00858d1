/* Pairs of value and index that have no name: predefined, laid out as C's structures, told apart by what they
   consist of, and combined in all lifetimes. MPI-5.0: Collective Communication, MINLOC and MAXLOC. */
#include "check.h"
#include <stddef.h>
#include <stdint.h>

enum { COUNT = 5 };

static MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) {
    MPI_Datatype pair, again;
    OK(MPI_Type_get_value_index(value, index, &pair));
    OK(MPI_Type_get_value_index(value, index, &again));
    CHECK(pair == again && pair != MPI_DATATYPE_NULL, "each time the same");
    GIVES(MPI_ERR_TYPE, MPI_Type_free(&again));
    CHECK(pair == again, "it is predefined");
    return pair;
}

static void check_contents(MPI_Datatype pair, MPI_Datatype value, MPI_Datatype index) {
    int counts[3], combiner;
    MPI_Datatype types[2], derived, inner;
    OK(MPI_Type_get_envelope(pair, counts, counts + 1, counts + 2, &combiner));
    EQUAL(combiner, MPI_COMBINER_VALUE_INDEX);
    CHECK(counts[0] == 0 && counts[1] == 0 && counts[2] == 2, "two datatypes");
    OK(MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, types));
    CHECK(types[0] == value && types[1] == index, "in their order");
    OK(MPI_Type_dup(pair, &derived));
    OK(MPI_Type_get_contents(derived, 0, 0, 1, NULL, NULL, &inner));
    CHECK(inner == pair, "what is predefined keeps its handle");
    OK(MPI_Type_free(&derived));
}

static void check_bounds(MPI_Datatype pair, size_t bytes, size_t whole) {
    int found, elements;
    MPI_Aint lower, extent;
    MPI_Status status;
    OK(MPI_Type_size(pair, &found));
    OK(MPI_Type_get_extent(pair, &lower, &extent));
    CHECK(found == (int)bytes && lower == 0 && extent == (MPI_Aint)whole, "%d bytes in %ld", found, (long)extent);
    OK(MPI_Status_set_elements(&status, pair, 3));
    OK(MPI_Get_elements(&status, pair, &elements));
    EQUAL(elements, 3);
    OK(MPI_Get_count(&status, pair, &elements));
    EQUAL(elements, MPI_UNDEFINED);
}

/* The best rank among those with equal values is the first. */
#define CHECK_PAIR(ctype, value_type, index_ctype, index_type)                                      \
    do {                                                                                            \
        struct { ctype value; index_ctype index; } mine[COUNT], found[COUNT];                       \
        MPI_Datatype pair = pair_of(value_type, index_type);                                        \
        MPI_Request request;                                                                        \
        check_contents(pair, value_type, index_type);                                               \
        check_bounds(pair, sizeof(ctype) + sizeof(index_ctype), sizeof mine[0]);                    \
        for (int i = 0; i < COUNT; i++)                                                             \
            mine[i].value = (ctype)((rank * 3 + i) % 4), mine[i].index = (index_ctype)(100 - rank); \
        for (int most = 0; most < 2; most++)                                                        \
            for (int lifetime = 0; lifetime < 3; lifetime++) {                                      \
                MPI_Op op = most ? MPI_MAXLOC : MPI_MINLOC;                                         \
                memset(found, 0, sizeof found);                                                     \
                if (lifetime == 0)                                                                  \
                    OK(MPI_Allreduce(mine, found, COUNT, pair, op, MPI_COMM_WORLD));                \
                if (lifetime == 1)                                                                  \
                    OK(MPI_Iallreduce(mine, found, COUNT, pair, op, MPI_COMM_WORLD, &request));     \
                if (lifetime == 2) {                                                                \
                    OK(MPI_Allreduce_init(mine, found, COUNT, pair, op, MPI_COMM_WORLD,             \
                        MPI_INFO_NULL, &request));                                                  \
                    OK(MPI_Start(&request));                                                        \
                }                                                                                   \
                if (lifetime != 0)                                                                  \
                    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));                                      \
                if (lifetime == 2)                                                                  \
                    OK(MPI_Request_free(&request));                                                 \
                for (int i = 0; i < COUNT; i++) {                                                   \
                    int value = i % 4, index = 100;                                                 \
                    for (int r = 1; r < size; r++) {                                                \
                        int other = (r * 3 + i) % 4;                                                \
                        if (other == value || (most ? other > value : other < value))               \
                            value = other, index = 100 - r;                                         \
                    }                                                                               \
                    CHECK(found[i].value == (ctype)value, "value %d of " #value_type, i);           \
                    EQUAL(found[i].index, index);                                                   \
                }                                                                                   \
            }                                                                                       \
    } while (0)

static void check_refused(void) {
    struct { double value; int64_t index; } in = {1, 2}, inout = {3, 4};
    MPI_Datatype pair = pair_of(MPI_DOUBLE, MPI_INT64_T), none = MPI_CHAR, derived;
    GIVES(MPI_ERR_OP, MPI_Reduce_local(&in, &inout, 1, pair, MPI_SUM));
    GIVES(MPI_ERR_BUFFER, MPI_Reduce_local(NULL, &inout, 1, pair, MPI_MINLOC));
    CHECK(inout.value == 3 && inout.index == 4, "nothing has happened");
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_FLOAT, &none));
    CHECK(none == MPI_DATATYPE_NULL, "an index is an integer");
    OK(MPI_Type_get_value_index(MPI_C_DOUBLE_COMPLEX, MPI_LONG, &none));
    CHECK(none == MPI_DATATYPE_NULL, "complex numbers have no order");
    OK(MPI_Type_get_value_index(MPI_2INT, MPI_LONG, &none));
    CHECK(none == MPI_DATATYPE_NULL, "pairs of pairs are none");
    OK(MPI_Type_contiguous(1, MPI_DOUBLE, &derived));
    OK(MPI_Type_get_value_index(derived, MPI_LONG, &none));
    CHECK(none == MPI_DATATYPE_NULL, "derived datatypes are no values");
    OK(MPI_Type_free(&derived));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK_PAIR(double, MPI_DOUBLE, int64_t, MPI_INT64_T);
    CHECK_PAIR(double, MPI_DOUBLE, MPI_Count, MPI_COUNT);
    CHECK_PAIR(float, MPI_FLOAT, uint16_t, MPI_UINT16_T);
    CHECK_PAIR(signed char, MPI_SIGNED_CHAR, long, MPI_LONG);
    CHECK_PAIR(uint64_t, MPI_UINT64_T, int, MPI_INT);
    CHECK_PAIR(short, MPI_SHORT, signed char, MPI_SIGNED_CHAR);
    CHECK_PAIR(long double, MPI_LONG_DOUBLE, unsigned, MPI_UNSIGNED);
    CHECK_PAIR(long double, MPI_LONG_DOUBLE, long long, MPI_LONG_LONG);
    check_refused();
    return end();
}
