/* Every predefined operation on every predefined datatype: right where it is legal, refused where it is not.
   Which are legal is generated from spec/. MPI-5.0: Collective Communication, Predefined Reduction Operations. */
#include "check.h"
#include <stdint.h>

enum { COUNT = 7 };

/* What rank `r` contributes: small enough that every type holds every result exactly. */
#define VALUE_MPI_MAX(r, i) ((r + i) % 5 + 1)
#define VALUE_MPI_MIN(r, i) ((r + i) % 5 + 1)
#define VALUE_MPI_SUM(r, i) ((r + i) % 3 + 1)
#define VALUE_MPI_PROD(r, i) ((r + i) % 4 == 0 ? 2 : 1)
#define VALUE_MPI_LAND(r, i) ((i % 2) | ((r + i) % 3 > 0))
#define VALUE_MPI_LOR(r, i) ((r + i) % 6 == 0)
#define VALUE_MPI_LXOR(r, i) ((r + i) % 3 == 0)
#define VALUE_MPI_BAND(r, i) (0x7f ^ (1 << (r + i) % 7))
#define VALUE_MPI_BOR(r, i) (1 << (r + i) % 7)
#define VALUE_MPI_BXOR(r, i) ((r * 37 + i * 5) % 128)

#define COMBINED_MPI_MAX(a, b) ((a) > (b) ? (a) : (b))
#define COMBINED_MPI_MIN(a, b) ((a) < (b) ? (a) : (b))
#define COMBINED_MPI_SUM(a, b) ((a) + (b))
#define COMBINED_MPI_PROD(a, b) ((a) * (b))
#define COMBINED_MPI_LAND(a, b) ((a) && (b))
#define COMBINED_MPI_LOR(a, b) ((a) || (b))
#define COMBINED_MPI_LXOR(a, b) (!(a) != !(b))
#define COMBINED_MPI_BAND(a, b) ((a) & (b))
#define COMBINED_MPI_BOR(a, b) ((a) | (b))
#define COMBINED_MPI_BXOR(a, b) ((a) ^ (b))

/* `type` holds values of the C type `ctype`. */
#define LEGAL(op, type, ctype)                                                                      \
    do {                                                                                            \
        ctype mine[COUNT], found[COUNT];                                                            \
        for (int i = 0; i < COUNT; i++)                                                             \
            mine[i] = (ctype)VALUE_##op(rank, i);                                                   \
        OK(MPI_Allreduce(mine, found, COUNT, type, op, MPI_COMM_WORLD));                            \
        for (int i = 0; i < COUNT; i++) {                                                           \
            ctype expected = (ctype)VALUE_##op(0, i);                                               \
            for (int r = 1; r < size; r++)                                                          \
                expected = (ctype)COMBINED_##op(expected, (ctype)VALUE_##op(r, i));                 \
            CHECK(found[i] == expected, #op " on " #type ", element %d", i);                        \
        }                                                                                           \
    } while (0)

/* Values with the rank that has them: of equal values the lowest rank is reported. */
#define LEGAL_PAIR(op, type, ctype, index_type)                                                     \
    do {                                                                                            \
        struct { ctype value; index_type index; } mine[COUNT], found[COUNT];                        \
        for (int i = 0; i < COUNT; i++) {                                                           \
            mine[i].value = (ctype)((rank * 3 + i) % 4);                                            \
            mine[i].index = (index_type)rank;                                                       \
        }                                                                                           \
        OK(MPI_Allreduce(mine, found, COUNT, type, op, MPI_COMM_WORLD));                            \
        for (int i = 0; i < COUNT; i++) {                                                           \
            int best = 0;                                                                           \
            for (int r = 1; r < size; r++) {                                                        \
                int value = (r * 3 + i) % 4, champion = (best * 3 + i) % 4;                         \
                if (op == MPI_MINLOC ? value < champion : value > champion)                         \
                    best = r;                                                                       \
            }                                                                                       \
            CHECK(found[i].value == (ctype)((best * 3 + i) % 4), #op " on " #type ": value %d", i); \
            CHECK(found[i].index == (index_type)best, #op " on " #type ": index %d", i);            \
        }                                                                                           \
    } while (0)

#define ILLEGAL(op, type)                                                                           \
    do {                                                                                            \
        char mine[64 * COUNT] = {0}, found[64 * COUNT];                                             \
        GIVES(MPI_ERR_OP, MPI_Allreduce(mine, found, COUNT, type, op, MPI_COMM_WORLD));             \
    } while (0)

int main(int argc, char **argv) {
    begin(&argc, &argv);
#include "reductions.h"
    return end();
}
