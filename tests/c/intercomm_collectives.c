/* Collectives between two groups, in three lifetimes, of short and of long blocks: what one group contributes the
   other gets. MPI-5.0: Collective Communication, Inter-Communicator Collective Operations. */
#include "intercomm.h"
#include "lifetimes.h"

enum { LONG_BLOCK = 90001, MEMBERS = 8 };

static int count;
static int sent[LONG_BLOCK * MEMBERS], received[LONG_BLOCK * MEMBERS + 1];

/* Element `i` of what a rank contributes to another in a round. */
static int element(int group, int member, int to, int i, int round) {
    return round * 7 + group * 1000000 + member * 100000 + to * 10000 + i;
}

static void fill(int blocks, int round) {
    for (int to = 0; to < blocks; to++)
        for (int i = 0; i < count; i++)
            sent[to * count + i] = element(side, me, to, i, round);
    for (int i = 0; i <= remotes * count; i++)
        received[i] = -1;
}

static void check_block(int place, int member, int to, int round) {
    for (int i = 0; i < count; i++)
        EQUAL(received[place * count + i], element(1 - side, member, to, i, round));
}

static void check_untouched(int from) {
    EQUAL(received[from], -1);
}

static void fill_one(int round) { fill(1, round); }
static void fill_each(int round) { fill(remotes, round); }

static void all_gathered(int round) {
    for (int peer = 0; peer < remotes; peer++)
        check_block(peer, peer, 0, round);
    check_untouched(remotes * count);
}

static void all_exchanged(int round) {
    for (int peer = 0; peer < remotes; peer++)
        check_block(peer, peer, me, round);
    check_untouched(remotes * count);
}

static void all_reduced(int round) {
    for (int i = 0; i < count; i++) {
        int sum = 0;
        for (int peer = 0; peer < remotes; peer++)
            sum += element(1 - side, peer, 0, i, round);
        EQUAL(received[i], sum);
    }
}

/* The root is one of a group; what the root argument is follows from it. */
static int root_side, root_member, root;

static void choose_root(int group, int member) {
    root_side = group, root_member = member;
    root = side != group ? member : me == member ? MPI_ROOT : MPI_PROC_NULL;
}

static void broadcast_done(int round) {
    if (side != root_side)
        for (int i = 0; i < count; i++)
            EQUAL(sent[i], element(root_side, root_member, 0, i, round));
    else if (me == root_member)
        EQUAL(sent[count - 1], element(side, me, 0, count - 1, round));
}

static void gathered(int round) {
    if (root == MPI_ROOT)
        all_gathered(round);
    else
        check_untouched(0);
}

static void scattered(int round) {
    if (side != root_side)
        check_block(0, root_member, me, round);
    else
        check_untouched(0);
}

static void reduced(int round) {
    if (root == MPI_ROOT)
        all_reduced(round);
    else
        check_untouched(0);
}

static void nothing(int round) { (void)round; }

static void check_rooted(void) {
    IN_EVERY_LIFETIME(fill_one, broadcast_done, MPI_Bcast, MPI_Ibcast, sent, count, MPI_INT, root, inter);
    IN_EVERY_LIFETIME(fill_one, gathered, MPI_Gather, MPI_Igather, sent, count, MPI_INT, received, count, MPI_INT,
                      root, inter);
    IN_EVERY_LIFETIME(fill_each, scattered, MPI_Scatter, MPI_Iscatter, sent, count, MPI_INT, received, count,
                      MPI_INT, root, inter);
    IN_EVERY_LIFETIME(fill_one, reduced, MPI_Reduce, MPI_Ireduce, sent, received, count, MPI_INT, MPI_SUM, root,
                      inter);
}

static void check_rootless(void) {
    IN_EVERY_LIFETIME(fill_one, all_gathered, MPI_Allgather, MPI_Iallgather, sent, count, MPI_INT, received, count,
                      MPI_INT, inter);
    IN_EVERY_LIFETIME(fill_each, all_exchanged, MPI_Alltoall, MPI_Ialltoall, sent, count, MPI_INT, received, count,
                      MPI_INT, inter);
    IN_EVERY_LIFETIME(fill_one, all_reduced, MPI_Allreduce, MPI_Iallreduce, sent, received, count, MPI_INT, MPI_SUM,
                      inter);
    IN_THREE_LIFETIMES(nothing, nothing, MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init, inter);
}

/* Blocks of what the other group contributes, combined: vectors of both groups are equally long. */
static int portions[MEMBERS], portion_place;

/* Cuts `length` elements for the ranks of the own group: equally, or ever longer ones. */
static void cut(int length, int is_equal) {
    int left = length;
    portion_place = 0;
    for (int member = 0; member < locals; member++) {
        int share = is_equal ? length / locals : left / 3;
        portions[member] = member == locals - 1 ? left : share;
        left -= portions[member];
        portion_place += member < me ? portions[member] : 0;
    }
}

static void fill_vector(int round) {
    fill(2, round);
    for (int i = 0; i <= 2 * count; i++)
        received[i] = -1;
}

static void portion_reduced(int round) {
    for (int i = 0; i < portions[me]; i++) {
        int sum = 0;
        for (int peer = 0; peer < remotes; peer++)
            sum += element(1 - side, peer, (portion_place + i) / count, (portion_place + i) % count, round);
        EQUAL(received[i], sum);
    }
    check_untouched(portions[me]);
}

static void check_scattered(void) {
    int length = 2 * count / (locals * remotes) * locals * remotes;
    MPI_Count large[MEMBERS];
    cut(length, 1);
    IN_EVERY_LIFETIME(fill_vector, portion_reduced, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, sent, received,
                      portions[me], MPI_INT, MPI_SUM, inter);
    for (int is_equal = 0; is_equal < 2; is_equal++) {
        cut(length, side == 0 && is_equal);
        for (int member = 0; member < locals; member++)
            large[member] = portions[member];
        IN_THREE_LIFETIMES(fill_vector, portion_reduced, MPI_Reduce_scatter, MPI_Ireduce_scatter,
                           MPI_Reduce_scatter_init, sent, received, portions, MPI_INT, MPI_SUM, inter);
        IN_THREE_LIFETIMES(fill_vector, portion_reduced, MPI_Reduce_scatter_c, MPI_Ireduce_scatter_c,
                           MPI_Reduce_scatter_init_c, sent, received, large, MPI_INT, MPI_SUM, inter);
    }
}

/* The v forms: rank `r` of a group has blocks of `count + r`, the remote ranks' blocks lie in reverse order. */
static int counts[MEMBERS], places[MEMBERS];

static void lay_out(void) {
    int place = 0;
    for (int peer = remotes - 1; peer >= 0; peer--) {
        counts[peer] = count / 2 + peer;
        places[peer] = place;
        place += counts[peer];
    }
}

static void vector_gathered(int round) {
    for (int peer = 0; peer < remotes; peer++)
        for (int i = 0; i < counts[peer]; i++)
            EQUAL(received[places[peer] + i], element(1 - side, peer, 0, i, round));
}

static void vector_gathered_at_root(int round) {
    if (root == MPI_ROOT)
        vector_gathered(round);
    else
        check_untouched(0);
}

static void vector_fill(int round) {
    fill_one(round);
    for (int peer = 0; peer < remotes; peer++)
        for (int i = 0; i < counts[peer] && root == MPI_ROOT; i++)
            sent[places[peer] + i] = element(side, me, peer, i, round);
}

static void vector_scattered(int round) {
    if (side == root_side)
        return check_untouched(0);
    for (int i = 0; i < count / 2 + me; i++)
        EQUAL(received[i], element(root_side, root_member, me, i, round));
}

static void check_vectors(void) {
    int mine = count / 2 + me;
    lay_out();
    IN_THREE_LIFETIMES(fill_one, vector_gathered, MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, sent, mine,
                       MPI_INT, received, counts, places, MPI_INT, inter);
    IN_THREE_LIFETIMES(fill_one, vector_gathered_at_root, MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, sent, mine,
                       MPI_INT, received, counts, places, MPI_INT, root, inter);
    IN_THREE_LIFETIMES(vector_fill, vector_scattered, MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, sent, counts,
                       places, MPI_INT, received, mine, MPI_INT, root, inter);
}

/* From group 0 to group 1 only: the other direction is empty. */
static void one_way_done(int round) {
    if (side == 1)
        all_exchanged(round);
    else
        check_untouched(0);
}

static void check_one_way(void) {
    int away = side == 0 ? count : 0, here = side == 1 ? count : 0;
    int sends[MEMBERS], receives[MEMBERS], displacements[MEMBERS], bytes[MEMBERS];
    MPI_Datatype types[MEMBERS];
    for (int i = 0; i < MEMBERS; i++) {
        sends[i] = away, receives[i] = here, displacements[i] = i * count;
        bytes[i] = displacements[i] * (int)sizeof(int), types[i] = MPI_INT;
    }
    IN_EVERY_LIFETIME(fill_each, one_way_done, MPI_Alltoall, MPI_Ialltoall, sent, away, MPI_INT, received, here,
                      MPI_INT, inter);
    IN_THREE_LIFETIMES(fill_each, one_way_done, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, sent, sends,
                       displacements, MPI_INT, received, receives, displacements, MPI_INT, inter);
    IN_THREE_LIFETIMES(fill_each, one_way_done, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, sent, sends,
                       bytes, types, received, receives, bytes, types, inter);
}

/* Associative, not commutative: x -> slope * x + offset, one after the other. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; i++) {
        int *first = (int *)in + 2 * i, *second = (int *)inout + 2 * i;
        second[1] += second[0] * first[1];
        second[0] *= first[0];
    }
}

static void check_order(void) {
    MPI_Op op;
    MPI_Datatype map;
    int mine[2] = {10, me + 1}, result[2] = {0, 0}, expected = 0;
    OK(MPI_Type_contiguous(2, MPI_INT, &map));
    OK(MPI_Type_commit(&map));
    OK(MPI_Op_create(compose, 0, &op));
    for (int peer = 0; peer < remotes; peer++)
        expected = 10 * expected + peer + 1;
    OK(MPI_Allreduce(mine, result, 1, map, op, inter));
    EQUAL(result[1], expected);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&map));
}

/* Who is beside the root says so; no other argument of his counts. */
static void check_bystanders(void) {
    int is_beside = root == MPI_PROC_NULL, counted = is_beside ? -1 : 1;
    MPI_Datatype type = is_beside ? MPI_DATATYPE_NULL : MPI_INT;
    MPI_Op op = is_beside ? MPI_OP_NULL : MPI_SUM;
    int *from = is_beside ? NULL : sent, *to = is_beside ? NULL : received;
    fill(remotes, 0);
    OK(MPI_Bcast(from, counted, type, root, inter));
    OK(MPI_Gather(from, counted, type, to, counted, type, root, inter));
    OK(MPI_Scatter(from, counted, type, to, counted, type, root, inter));
    OK(MPI_Gatherv(from, counted, type, to, is_beside ? NULL : counts, is_beside ? NULL : places, type, root, inter));
    OK(MPI_Scatterv(from, is_beside ? NULL : counts, is_beside ? NULL : places, type, to, counted, type, root, inter));
    OK(MPI_Reduce(from, to, counted, type, op, root, inter));
}

static void check_errors(void) {
    int number = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    GIVES(MPI_ERR_ROOT, MPI_Bcast(&number, 1, MPI_INT, remotes, inter));
    GIVES(MPI_ERR_ROOT, MPI_Ibcast(&number, 1, MPI_INT, MPI_ANY_SOURCE, inter, &request));
    GIVES(MPI_ERR_ROOT, MPI_Bcast(&number, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, inter));
    GIVES(MPI_ERR_BUFFER, MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, &number, 1, MPI_INT, inter));
    GIVES(MPI_ERR_BUFFER, MPI_Allreduce(&number, &number, 1, MPI_INT, MPI_SUM, inter));
    GIVES(MPI_ERR_BUFFER, MPI_Reduce_scatter_block(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, inter));
    GIVES(MPI_ERR_COMM, MPI_Scan(&number, &number, 1, MPI_INT, MPI_SUM, inter));
    GIVES(MPI_ERR_COMM, MPI_Iexscan(&number, &number, 1, MPI_INT, MPI_SUM, inter, &request));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    if (size == 1)
        return end();
    connect_groups();
    for (int length = 0; length < 3; length++) {
        count = length == 0 ? 1 : length == 1 ? 700 : LONG_BLOCK;
        check_rootless();
        check_scattered();
        check_one_way();
        for (int group = 0; group < 2; group++) {
            choose_root(group, (group == side ? locals : remotes) - 1);
            check_rooted();
            if (count > 1 && count < LONG_BLOCK)
                check_vectors();
        }
    }
    for (int peer = 0; peer < remotes; peer++)
        counts[peer] = 1, places[peer] = peer;
    check_bystanders();
    check_order();
    check_errors();
    disconnect_groups();
    return end();
}
