/* The representation external32: its bytes are the same everywhere, whatever lies on which machine how.
   MPI-5.0: Datatypes, Canonical MPI_PACK and MPI_UNPACK; I/O, External Data Representation: "external32". */
#include "kinds.h"

enum { COUNT = 2, SPAN = 4 * AROUND, ROOM = 1024 };

static char form[] = "external32";

/* One value, and the bytes that it has elsewhere. */
static void check_bytes(const void *value, MPI_Datatype type, const char *expected, MPI_Aint bytes) {
    char packed[64], again[64], back[64];
    MPI_Aint size_found, position = 0;
    int native;
    OK(MPI_Type_size(type, &native));
    memset(packed, 0x55, sizeof packed);
    OK(MPI_Pack_external_size(form, 1, type, &size_found));
    EQUAL(size_found, bytes);
    OK(MPI_Pack_external(form, value, 1, type, packed, bytes, &position));
    EQUAL(position, bytes);
    CHECK(memcmp(packed, expected, (size_t)bytes) == 0 && packed[bytes] == 0x55, "other bytes");
    position = 0;
    OK(MPI_Unpack_external(form, packed, bytes, &position, back, 1, type));
    EQUAL(position, bytes);
    position = 0;
    OK(MPI_Pack_external(form, back, 1, type, again, bytes, &position));
    CHECK(memcmp(again, expected, (size_t)bytes) == 0, "it does not come back");
}

static void check_values(void) {
    struct { double value; int index; } pair = {-2.0, 258};
    float complex_value[2] = {1.0f, -0.5f};
    check_bytes(&(int){0x01020304}, MPI_INT, "\1\2\3\4", 4);
    check_bytes(&(short){-2}, MPI_SHORT, "\xff\xfe", 2);
    check_bytes(&(long){-3}, MPI_LONG, "\xff\xff\xff\xfd", 4);
    check_bytes(&(long long){0x102030405060708}, MPI_LONG_LONG, "\1\2\3\4\5\6\7\10", 8);
    check_bytes("x", MPI_CHAR, "x", 1);
    check_bytes(&(float){1.0f}, MPI_FLOAT, "\x3f\x80\0\0", 4);
    check_bytes(&(double){-2.0}, MPI_DOUBLE, "\xc0\0\0\0\0\0\0\0", 8);
    check_bytes(&(long double){1.5L}, MPI_LONG_DOUBLE, "\x3f\xff\x80\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    check_bytes(complex_value, MPI_C_FLOAT_COMPLEX, "\x3f\x80\0\0\xbf\0\0\0", 8);
    check_bytes(&pair, MPI_DOUBLE_INT, "\xc0\0\0\0\0\0\0\0\0\0\1\2", 12);
}

/* Every kind of datatype there and, as another kind, back; the large-count forms read what the others wrote. */
static void check_kinds(const Kind *from, const Kind *into) {
    static int sent[SPAN], found[SPAN];
    char packed[ROOM];
    MPI_Aint position = 0, bytes;
    MPI_Count large_position = 0, large_bytes;
    int touched = 0;
    for (int i = 0; i < SPAN; i++)
        sent[i] = 1000 * rank + i, found[i] = -1;
    OK(MPI_Pack_external_size(form, COUNT, from->type, &bytes));
    OK(MPI_Pack_external_size_c(form, COUNT, from->type, &large_bytes));
    EQUAL(bytes, COUNT * ELEMENTS * 4);
    EQUAL(large_bytes, bytes);
    OK(MPI_Pack_external(form, sent + AROUND, COUNT, from->type, packed, ROOM, &position));
    OK(MPI_Unpack_external_c(form, packed, position, &large_position, found + AROUND, COUNT, into->type));
    EQUAL(large_position, position);
    for (int i = 0; i < COUNT * ELEMENTS; i++) {
        int there = AROUND + i / ELEMENTS * from->extent + from->map[i % ELEMENTS];
        EQUAL(found[AROUND + i / ELEMENTS * into->extent + into->map[i % ELEMENTS]], sent[there]);
    }
    for (int i = 0; i < SPAN; i++)
        touched += found[i] != -1;
    EQUAL(touched, COUNT * ELEMENTS);
}

static void check_refused(void) {
    char packed[8], native[] = "native";
    int value = 7;
    long long_value = 1L << 40;
    MPI_Aint position = 5, bytes;
    GIVES(MPI_ERR_TRUNCATE, MPI_Pack_external(form, &value, 1, MPI_INT, packed, 8, &position));
    GIVES(MPI_ERR_TRUNCATE, MPI_Unpack_external(form, packed, 8, &position, &value, 1, MPI_INT));
    EQUAL(position, 5);
    position = 0;
    GIVES(MPI_ERR_CONVERSION, MPI_Pack_external(form, &long_value, 1, MPI_LONG, packed, 8, &position));
    EQUAL(position, 0);
    GIVES(MPI_ERR_ARG, MPI_Pack_external(native, &value, 1, MPI_INT, packed, 8, &position));
    GIVES(MPI_ERR_ARG, MPI_Pack_external(NULL, &value, 1, MPI_INT, packed, 8, &position));
    GIVES(MPI_ERR_ARG, MPI_Unpack_external(native, packed, 8, &position, &value, 1, MPI_INT));
    GIVES(MPI_ERR_ARG, MPI_Pack_external_size(native, 1, MPI_INT, &bytes));
    GIVES(MPI_ERR_COUNT, MPI_Pack_external(form, &value, -1, MPI_INT, packed, 8, &position));
    GIVES(MPI_ERR_TYPE, MPI_Pack_external(form, &value, 1, MPI_DATATYPE_NULL, packed, 8, &position));
    GIVES(MPI_ERR_COUNT, MPI_Pack_external_size(form, -1, MPI_INT, &bytes));
    GIVES(MPI_ERR_TYPE, MPI_Pack_external_size(form, 1, MPI_DATATYPE_NULL, &bytes));
    GIVES(MPI_ERR_ARG, MPI_Pack_external_size(form, 1, MPI_INT, NULL));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_kinds();
    check_values();
    for (int f = 0; f < KINDS; f++)
        for (int i = 0; i < KINDS; i++)
            check_kinds(&kinds[f], &kinds[i]);
    free_kinds();
    check_refused();
    return end();
}
