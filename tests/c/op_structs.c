/* Functions of operations assign whole structures, as that of the standard's example does, also where the datatype
   describes some members only, and find them aligned as in the program's memory. Members that are not described stay
   as they are in the program's buffers. MPI-5.0: Collective Communication, User-Defined Reduction Operations. */
#include "lifetimes.h"
#include <stddef.h>
#include <stdint.h>

enum { COUNT = 150, GAP = 64 };

/* Key and index are described: the rest lies behind them, or before. */
struct early { double key; int index; char name[GAP]; };
struct late { char name[GAP]; double key; int index; };
/* What is described begins at 4, with a member that instructions may ask to be aligned. */
struct wide { int skip, n; _Alignas(16) char bytes[16]; };

static double key_of(int r, int i) { return (double)((r * 7 + i * 3) % 11); }

/* The greatest key, and who has it. */
static int winner(int i) {
    int best = 0;
    for (int r = 1; r < size; r++)
        if (key_of(r, i) > key_of(best, i))
            best = r;
    return best;
}

#define OF_STRUCT(type)                                                                             \
    static struct type type##_sent[COUNT], type##_found[COUNT];                                     \
                                                                                                    \
    static void type##_greatest(void *in, void *inout, int *count, MPI_Datatype *datatype) {        \
        struct type *left = in, *right = inout;                                                     \
        (void)datatype;                                                                             \
        for (int i = 0; i < *count; i++) {                                                          \
            struct type best = right[i];                                                            \
            int is_less = left[i].key < right[i].key;                                               \
            if (!is_less && (left[i].key > right[i].key || left[i].index < right[i].index))         \
                best = left[i];                                                                     \
            memset(best.name, 0xab, sizeof best.name);                                              \
            right[i] = best;                                                                        \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    static void type##_fill(int round) {                                                            \
        (void)round;                                                                                \
        for (int i = 0; i < COUNT; i++) {                                                           \
            type##_sent[i] = (struct type){.key = key_of(rank, i), .index = rank};                  \
            memset(&type##_found[i], 'f', sizeof(struct type));                                     \
        }                                                                                           \
    }                                                                                               \
                                                                                                    \
    static void type##_check(int round) {                                                           \
        char untouched[GAP];                                                                        \
        (void)round;                                                                                \
        memset(untouched, 'f', GAP);                                                                \
        for (int i = 0; i < COUNT; i++) {                                                           \
            EQUAL(type##_found[i].index, winner(i));                                                \
            EQUAL(type##_found[i].key, key_of(winner(i), i));                                       \
            CHECK(memcmp(type##_found[i].name, untouched, GAP) == 0, "a name is not described");    \
        }                                                                                           \
    }

OF_STRUCT(early)
OF_STRUCT(late)

static struct wide wide_sent[COUNT], wide_found[COUNT];

static void wide_greatest(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    struct wide *left = in, *right = inout;
    (void)datatype;
    CHECK((uintptr_t)in % 16 == 0 && (uintptr_t)inout % 16 == 0, "structures are aligned");
    for (int i = 0; i < *count; i++)
        if (left[i].n > right[i].n)
            right[i] = left[i];
}

static void wide_fill(int round) {
    for (int i = 0; i < COUNT; i++) {
        wide_sent[i] = (struct wide){.skip = -1, .n = rank + i + round};
        memset(wide_sent[i].bytes, rank + i, sizeof wide_sent[i].bytes);
        wide_found[i] = (struct wide){.skip = 99, .n = -1};
    }
}

static void wide_check(int round) {
    for (int i = 0; i < COUNT; i++) {
        EQUAL(wide_found[i].skip, 99);
        EQUAL(wide_found[i].n, size - 1 + i + round);
        EQUAL((unsigned char)wide_found[i].bytes[15], size - 1 + i);
    }
}

/* Two members of a structure. */
static MPI_Datatype described(MPI_Aint first, MPI_Datatype of_first, MPI_Aint second, int length,
                              MPI_Datatype of_second, MPI_Aint bytes) {
    MPI_Datatype members, type;
    OK(MPI_Type_create_struct(2, (int[]){1, length}, (MPI_Aint[]){first, second},
                              (MPI_Datatype[]){of_first, of_second}, &members));
    OK(MPI_Type_create_resized(members, 0, bytes, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&members));
    return type;
}

#define REDUCE(name, datatype)                                                                      \
    do {                                                                                            \
        MPI_Op op;                                                                                  \
        OK(MPI_Op_create(name##_greatest, 1, &op));                                                 \
        IN_THREE_LIFETIMES(name##_fill, name##_check, MPI_Allreduce, MPI_Iallreduce,                \
            MPI_Allreduce_init, name##_sent, name##_found, COUNT, datatype, op, MPI_COMM_WORLD);    \
        OK(MPI_Op_free(&op));                                                                       \
    } while (0)

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Datatype early = described(offsetof(struct early, key), MPI_DOUBLE, offsetof(struct early, index), 1,
                                   MPI_INT, sizeof(struct early));
    MPI_Datatype late = described(offsetof(struct late, key), MPI_DOUBLE, offsetof(struct late, index), 1,
                                  MPI_INT, sizeof(struct late));
    MPI_Datatype wide = described(offsetof(struct wide, n), MPI_INT, offsetof(struct wide, bytes), 16,
                                  MPI_BYTE, sizeof(struct wide));
    REDUCE(early, early);
    REDUCE(late, late);
    REDUCE(wide, wide);
    OK(MPI_Type_free(&early));
    OK(MPI_Type_free(&late));
    OK(MPI_Type_free(&wide));
    return end();
}
