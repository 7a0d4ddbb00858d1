/* Reductions by operations of the program on every kind of datatype: the functions see elements that lie as in the
   program's buffers, whose gaps stay as they are; in every lifetime, also with datatype and operation freed while
   the reduction is under way. MPI-5.0: Collective Communication, User-Defined Reduction Operations. */
#include "kinds.h"
#include "lifetimes.h"

enum { COUNT = 3, ROOM = 2 * AROUND + COUNT * AROUND };

static const Kind *kind;
static int sent[ROOM], found[ROOM], in_place[ROOM], root;
/* What the function must be told, and how often it was called. */
static MPI_Datatype named;
static int calls;

static int place(int i) {
    return i / ELEMENTS * kind->extent + kind->map[i % ELEMENTS];
}

static unsigned value(int r, int i, int round) {
    return (unsigned)(r * 1009 + i * 13 + round) & 0xff;
}

static void combine(const int *in, int *inout, MPI_Count count, MPI_Datatype type) {
    MPI_Aint lb, extent;
    CHECK(named == MPI_DATATYPE_NULL || type == named, "the function is told the datatype of the call");
    OK(MPI_Type_get_extent(type, &lb, &extent));
    EQUAL(extent, kind->extent * sizeof(int));
    for (int i = 0; i < count * ELEMENTS; i++)
        inout[place(i)] = in[place(i)] > inout[place(i)] ? in[place(i)] : inout[place(i)];
    calls++;
}

static void maximum(void *in, void *inout, int *count, MPI_Datatype *type) { combine(in, inout, *count, *type); }
static void maximum_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type) {
    combine(in, inout, *count, *type);
}

static void first(void *in, void *inout, int *count, MPI_Datatype *type) {
    CHECK(*type == kind->type, "the function is told the datatype of the call");
    for (int i = 0; i < *count * ELEMENTS; i++)
        ((int *)inout)[place(i)] = ((int *)in)[place(i)];
}

static void fill(int round) {
    for (int i = 0; i < ROOM; i++)
        sent[i] = found[i] = in_place[i] = -1;
    for (int i = 0; i < COUNT * ELEMENTS; i++)
        sent[AROUND + place(i)] = in_place[AROUND + place(i)] = (int)value(rank, i, round);
}

static void verify(const int *result, int is_there, unsigned (*expected)(int i, int round), int round) {
    static int touched[ROOM];
    memset(touched, 0, sizeof touched);
    for (int i = 0; i < COUNT * ELEMENTS && is_there; i++) {
        CHECK(result[AROUND + place(i)] == (int)expected(i, round), "%s: integer %d is %d, not %d", kind->name, i,
            result[AROUND + place(i)], (int)expected(i, round));
        touched[AROUND + place(i)] = 1;
    }
    for (int i = 0; i < ROOM; i++)
        CHECK(touched[i] || result[i] == -1, "%s: a gap was written", kind->name);
}

static unsigned greatest(int i, int round) {
    unsigned best = value(0, i, round);
    for (int r = 1; r < size; r++)
        best = value(r, i, round) > best ? value(r, i, round) : best;
    return best;
}

static unsigned of_first(int i, int round) { return value(0, i, round); }

static void check_all(int round) { verify(found, 1, greatest, round); }
static void check_in_place(int round) { verify(in_place, 1, greatest, round); }
static void check_root(int round) { verify(found, rank == root, greatest, round); }
static void check_first(int round) { verify(found, 1, of_first, round); }

/* In one width of the counts: `c` is the end of the functions' names. */
#define REDUCE(op, c)                                                                               \
    do {                                                                                            \
        IN_THREE_LIFETIMES(fill, check_all, MPI_Allreduce##c, MPI_Iallreduce##c,                    \
            MPI_Allreduce_init##c, in, out, COUNT, named, op, comm);                                \
        IN_THREE_LIFETIMES(fill, check_root, MPI_Reduce##c, MPI_Ireduce##c, MPI_Reduce_init##c,     \
            in, out, COUNT, named, op, root, comm);                                                 \
        IN_THREE_LIFETIMES(fill, check_in_place, MPI_Allreduce##c, MPI_Iallreduce##c,               \
            MPI_Allreduce_init##c, MPI_IN_PLACE, in_place + AROUND, COUNT, named, op, comm);        \
    } while (0)

static void check_widths(MPI_Op op, MPI_Op large) {
    int *in = sent + AROUND, *out = found + AROUND;
    MPI_Comm comm = MPI_COMM_WORLD;
    named = kind->type;
    REDUCE(op, );
    REDUCE(large, _c);
    /* Not everywhere: on several nodes who is alone on its own may have nothing to combine. */
    int all;
    OK(MPI_Allreduce(&calls, &all, 1, MPI_INT, MPI_SUM, comm));
    CHECK(size == 1 || all > 0, "the function was called");
}

static void check_ordered(void) {
    MPI_Op op;
    OK(MPI_Op_create(first, 0, &op));
    IN_THREE_LIFETIMES(fill, check_first, MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, sent + AROUND,
        found + AROUND, COUNT, kind->type, op, MPI_COMM_WORLD);
    OK(MPI_Op_free(&op));
}

/* The reduction keeps what it needs; the function gets a handle that it can ask about. */
static void check_freed(void) {
    MPI_Request request;
    MPI_Datatype type;
    MPI_Op op;
    OK(MPI_Type_dup(kind->type, &type));
    OK(MPI_Op_create(maximum, 1, &op));
    named = MPI_DATATYPE_NULL;
    fill(7);
    OK(MPI_Iallreduce(sent + AROUND, found + AROUND, COUNT, type, op, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&type));
    OK(MPI_Op_free(&op));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_all(7);
}

static void check_local(MPI_Op op) {
    fill(3);
    named = kind->type;
    OK(MPI_Reduce_local(sent + AROUND, in_place + AROUND, COUNT, kind->type, op));
    for (int i = 0; i < COUNT * ELEMENTS; i++)
        EQUAL(in_place[AROUND + place(i)], value(rank, i, 3));
    for (int i = 0; i < COUNT * ELEMENTS; i++)
        in_place[AROUND + place(i)] = i % 2 ? 1000 + i : -5;
    OK(MPI_Reduce_local_c(sent + AROUND, in_place + AROUND, COUNT, kind->type, op));
    for (int i = 0; i < COUNT * ELEMENTS; i++)
        EQUAL(in_place[AROUND + place(i)], i % 2 ? 1000 + i : (int)value(rank, i, 3));
}

int main(int argc, char **argv) {
    MPI_Op op, large;
    begin(&argc, &argv);
    make_kinds();
    OK(MPI_Op_create(maximum, 1, &op));
    OK(MPI_Op_create_c(maximum_c, 1, &large));
    for (int k = 0; k < KINDS; k++) {
        kind = &kinds[k], root = k % size, calls = 0;
        check_widths(op, large);
        check_ordered();
        check_freed();
        check_local(op);
        check_local(large);
        GIVES(MPI_ERR_OP, MPI_Allreduce(sent, found, 1, kind->type, MPI_SUM, MPI_COMM_WORLD));
        GIVES(MPI_ERR_OP, MPI_Reduce_local(sent, found, 1, kind->type, MPI_MAX));
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Op_free(&large));
    free_kinds();
    return end();
}
