/* Packing and unpacking every kind of datatype, in both widths, several things into one buffer, and through a
   message of MPI_PACKED. MPI-5.0: Datatypes, Pack and Unpack. */
#include "kinds.h"

enum { COUNT = 2, SPAN = 4 * AROUND, ROOM = 4096 };

static int sent[SPAN], found[SPAN];

static void fill(void) {
    for (int i = 0; i < SPAN; i++)
        sent[i] = 1000 * rank + i, found[i] = -1;
}

/* What was packed as `from` came back as `into`. */
static void check(const Kind *from, const Kind *into, int source) {
    int touched = 0;
    for (int i = 0; i < COUNT * ELEMENTS; i++) {
        int there = AROUND + i / ELEMENTS * from->extent + from->map[i % ELEMENTS];
        int here = AROUND + i / ELEMENTS * into->extent + into->map[i % ELEMENTS];
        EQUAL(found[here], 1000 * source + there);
    }
    for (int i = 0; i < SPAN; i++)
        touched += found[i] != -1;
    EQUAL(touched, COUNT * ELEMENTS);
}

static void check_kinds(const Kind *from, const Kind *into) {
    char packed[ROOM];
    int position = 3, back = 3, bytes;
    MPI_Count large = 0, large_bytes;
    fill();
    OK(MPI_Pack_size(COUNT, from->type, MPI_COMM_WORLD, &bytes));
    OK(MPI_Pack_size_c(COUNT, from->type, MPI_COMM_WORLD, &large_bytes));
    CHECK(bytes >= COUNT * ELEMENTS * 4 && large_bytes == bytes, "%d bytes", bytes);
    OK(MPI_Pack(sent + AROUND, COUNT, from->type, packed, 3 + bytes, &position, MPI_COMM_WORLD));
    OK(MPI_Unpack(packed, position, &back, found + AROUND, COUNT, into->type, MPI_COMM_WORLD));
    EQUAL(back, position);
    check(from, into, rank);
    fill();
    OK(MPI_Pack_c(sent + AROUND, COUNT, into->type, packed, bytes, &large, MPI_COMM_WORLD));
    CHECK(large <= bytes, "packed are %lld bytes", (long long)large);
    large = 0;
    OK(MPI_Unpack_c(packed, bytes, &large, found + AROUND, COUNT, from->type, MPI_COMM_WORLD));
    check(into, from, rank);
}

/* The receiver may unpack, or not know that what it gets was packed. */
static void check_message(const Kind *from, const Kind *into) {
    char packed[ROOM], received[ROOM];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, position = 0, bytes;
    MPI_Status status;
    fill();
    OK(MPI_Pack(sent + AROUND, 1, from->type, packed, ROOM, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(sent + AROUND + from->extent, 1, from->type, packed, ROOM, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(packed, position, MPI_PACKED, right, 0, received, ROOM, MPI_PACKED, left, 0, MPI_COMM_WORLD,
        &status));
    OK(MPI_Get_count(&status, MPI_PACKED, &bytes));
    position = 0;
    OK(MPI_Unpack(received, bytes, &position, found + AROUND, COUNT, into->type, MPI_COMM_WORLD));
    check(from, into, left);
    fill();
    OK(MPI_Sendrecv(packed, bytes, MPI_PACKED, right, 0, found + AROUND, COUNT, into->type, left, 0, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE));
    check(from, into, left);
}

static void check_refused(void) {
    char packed[8] = "1234567";
    int position = 5, negative = -1, value = 7;
    GIVES(MPI_ERR_TRUNCATE, MPI_Pack(sent, 1, MPI_INT, packed, 8, &position, MPI_COMM_WORLD));
    GIVES(MPI_ERR_TRUNCATE, MPI_Unpack(packed, 8, &position, &value, 1, MPI_INT, MPI_COMM_WORLD));
    EQUAL(position, 5);
    CHECK(strcmp(packed, "1234567") == 0 && value == 7, "nothing was written");
    GIVES(MPI_ERR_ARG, MPI_Pack(sent, 1, MPI_INT, packed, 8, &negative, MPI_COMM_WORLD));
    GIVES(MPI_ERR_ARG, MPI_Pack(sent, 1, MPI_INT, packed, 8, NULL, MPI_COMM_WORLD));
    GIVES(MPI_ERR_ARG, MPI_Pack(sent, 1, MPI_INT, packed, -8, &position, MPI_COMM_WORLD));
    GIVES(MPI_ERR_COUNT, MPI_Pack(sent, -1, MPI_INT, packed, 8, &position, MPI_COMM_WORLD));
    GIVES(MPI_ERR_TYPE, MPI_Pack(sent, 1, MPI_DATATYPE_NULL, packed, 8, &position, MPI_COMM_WORLD));
    GIVES(MPI_ERR_COMM, MPI_Pack(sent, 1, MPI_INT, packed, 8, &position, MPI_COMM_NULL));
    GIVES(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &position));
    GIVES(MPI_ERR_TYPE, MPI_Pack_size(1, MPI_DATATYPE_NULL, MPI_COMM_WORLD, &position));
    GIVES(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &position));
    GIVES(MPI_ERR_ARG, MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL));
    OK(MPI_Pack_size(2000000000, MPI_INT, MPI_COMM_WORLD, &position));
    EQUAL(position, MPI_UNDEFINED);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_kinds();
    for (int f = 0; f < KINDS; f++)
        for (int i = 0; i < KINDS; i++) {
            check_kinds(&kinds[f], &kinds[i]);
            check_message(&kinds[f], &kinds[i]);
        }
    free_kinds();
    check_refused();
    return end();
}
