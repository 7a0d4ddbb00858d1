/* The collectives that move data, with every kind of datatype sent and every kind received: type maps differ,
   signatures agree. In every lifetime, and what lies in the gaps stays.
   MPI-5.0: Datatypes, Use of General Datatypes in Communication; Collective Communication. */
#include "kinds.h"
#include "lifetimes.h"

enum { COUNT = 2, MOST = 8, ROOM = 2 * AROUND + MOST * COUNT * AROUND };

static const Kind *from, *into;
static int sent[ROOM], received[ROOM], touched[ROOM];
static int root;

/* Where integer `i` of block `block` lies, from the origin of the buffer. */
static int place(const Kind *kind, int block, int i) {
    return AROUND + (COUNT * block + i / ELEMENTS) * kind->extent + kind->map[i % ELEMENTS];
}

/* What rank `source` sends to rank `target` as integer `i`. */
static int value(int source, int target, int i, int round) {
    return ((source * MOST + target) * COUNT * ELEMENTS + i) * 8 + round;
}

/* To everybody the same unless `apart`. */
static void fill(int blocks, int apart, int round) {
    for (int i = 0; i < ROOM; i++)
        sent[i] = received[i] = -1;
    for (int block = 0; block < blocks; block++)
        for (int i = 0; i < COUNT * ELEMENTS; i++)
            sent[place(from, block, i)] = value(rank, apart ? block : 0, i, round);
}

/* Block b is what rank `first_source` + b sent to `target`; everything else is as it was. */
static void verify(int blocks, int first_source, int target, int round) {
    memset(touched, 0, sizeof touched);
    for (int block = 0; block < blocks; block++)
        for (int i = 0; i < COUNT * ELEMENTS; i++) {
            int at = place(into, block, i), expected = value(first_source + block, target, i, round);
            CHECK(received[at] == expected, "%s to %s: integer %d of block %d is %d, not %d", from->name,
                into->name, i, block, received[at], expected);
            touched[at] = 1;
        }
    for (int i = 0; i < ROOM; i++)
        CHECK(touched[i] || received[i] == -1, "%s to %s: a gap was written", from->name, into->name);
}

static void fill_one(int round) { fill(1, 0, round); }
static void fill_each(int round) { fill(size, 1, round); }
static void check_all(int round) { verify(size, 0, 0, round); }
static void check_mine(int round) { verify(size, 0, rank, round); }
static void check_at_root(int round) { verify(rank == root ? size : 0, 0, 0, round); }
static void check_from_root(int round) { verify(1, root, rank, round); }

/* The root sends one kind, the others receive another into the same buffer. */
static void fill_root(int round) {
    fill(1, 0, round);
    if (rank == root)
        memcpy(received, sent, sizeof received);
}

static void check_bcast(int round) {
    const Kind *mine = into;
    into = rank == root ? from : into;
    verify(1, root, 0, round);
    into = mine;
}

/* In one width of the counts: `c` is the end of the functions' names. */
#define MOVE(c)                                                                                     \
    do {                                                                                            \
        IN_THREE_LIFETIMES(fill_one, check_all, MPI_Allgather##c, MPI_Iallgather##c,                \
            MPI_Allgather_init##c, in, COUNT, send, out, COUNT, recv, comm);                        \
        IN_THREE_LIFETIMES(fill_each, check_mine, MPI_Alltoall##c, MPI_Ialltoall##c,                \
            MPI_Alltoall_init##c, in, COUNT, send, out, COUNT, recv, comm);                         \
        IN_THREE_LIFETIMES(fill_one, check_at_root, MPI_Gather##c, MPI_Igather##c,                  \
            MPI_Gather_init##c, in, COUNT, send, out, COUNT, recv, root, comm);                     \
        IN_THREE_LIFETIMES(fill_each, check_from_root, MPI_Scatter##c, MPI_Iscatter##c,             \
            MPI_Scatter_init##c, in, COUNT, send, out, COUNT, recv, root, comm);                    \
        IN_THREE_LIFETIMES(fill_root, check_bcast, MPI_Bcast##c, MPI_Ibcast##c, MPI_Bcast_init##c,  \
            out, COUNT, shared, root, comm);                                                        \
    } while (0)

static void move(int large) {
    int *in = sent + AROUND, *out = received + AROUND;
    MPI_Datatype send = from->type, recv = into->type, shared = rank == root ? send : recv;
    MPI_Comm comm = MPI_COMM_WORLD;
    if (large)
        MOVE(_c);
    else
        MOVE();
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    make_kinds();
    CHECK(size <= MOST, "the buffers have room for %d ranks", MOST);
    for (int s = 0; s < KINDS; s++)
        for (int distance = 0; distance < KINDS; distance += 5) {
            from = &kinds[s], into = &kinds[(s + distance) % KINDS], root = s % size;
            move((s + distance / 5) % 4 == 0);
        }
    free_kinds();
    return end();
}
