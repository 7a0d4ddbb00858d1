/* Datatypes of absolute addresses, with MPI_BOTTOM in every call that takes a buffer.
   MPI-5.0: Datatypes, Use of Addresses; Data Access Functions. */
#include "lifetimes.h"
#include <stddef.h>

enum { MOST = 8 };

/* Two integers and a double that lie apart, and a datatype that knows where. */
typedef struct { int first; double gap, second; int third[2]; } Record;

static Record sent, found, records[MOST], kept[MOST];
static MPI_Datatype of_sent, of_found, of_block;
static int root;

static MPI_Datatype absolute(Record *record, int count) {
    MPI_Datatype made, resized, types[] = {MPI_INT, MPI_DOUBLE, MPI_INT}, whole;
    MPI_Aint places[3], base;
    int lengths[] = {1, 1, 2};
    OK(MPI_Get_address(&record->first, &places[0]));
    OK(MPI_Get_address(&record->second, &places[1]));
    OK(MPI_Get_address(record->third, &places[2]));
    OK(MPI_Get_address(record, &base));
    EQUAL(MPI_Aint_diff(places[1], base), offsetof(Record, second));
    EQUAL(MPI_Aint_add(base, offsetof(Record, third)), places[2]);
    OK(MPI_Type_create_struct(3, lengths, places, types, &made));
    OK(MPI_Type_create_resized(made, base, sizeof(Record), &resized));
    OK(MPI_Type_contiguous(count, resized, &whole));
    OK(MPI_Type_commit(&whole));
    OK(MPI_Type_free(&made));
    OK(MPI_Type_free(&resized));
    return whole;
}

static Record value(int r, int k, int round) {
    return (Record){100 * r + 10 * k + round, -1, 0.5 * r + k, {round, r}};
}

static void fill(int round) {
    memset(&found, 255, sizeof found);
    memset(records, 255, sizeof records);
    sent = value(rank, 0, round);
    found.gap = 77;
    for (int k = 0; k < MOST; k++) {
        kept[k] = value(rank, k, round);
        records[k].gap = 77;
    }
}

static void check_record(const Record *record, Record expected) {
    EQUAL(record->first, expected.first);
    EQUAL(2 * record->second, 2 * expected.second);
    EQUAL(record->third[0], expected.third[0]);
    EQUAL(record->third[1], expected.third[1]);
    CHECK(record->gap == 77, "the gap was written");
}

static void check_all(int round) {
    for (int r = 0; r < size; r++)
        check_record(&records[r], value(r, 0, round));
}
static void check_mine(int round) {
    for (int r = 0; r < size; r++)
        check_record(&records[r], value(r, rank, round));
}
static void check_at_root(int round) {
    if (rank == root)
        check_all(round);
}
static void check_from_root(int round) { check_record(&found, value(root, rank, round)); }

static void fill_bcast(int round) {
    fill(round);
    if (rank == root) {
        found = value(root, rank, round);
        found.gap = 77;
    }
}
static void check_bcast(int round) { check_record(&found, value(root, root, round)); }

static void check_left(int round) { check_record(&found, value((rank + size - 1) % size, 0, round)); }

/* Adds the first integers of the elements. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    MPI_Aint lb, extent;
    OK(MPI_Type_get_true_extent(*type, &lb, &extent));
    for (int i = 0; i < *count; i++)
        *(int *)((char *)inout + lb) += *(int *)((char *)in + lb);
}

static void check_sum(int round) {
    EQUAL(found.first, 50 * size * (size - 1) + size * round);
    CHECK(found.gap == 77, "the gap was written");
}
static void fill_sum(int round) {
    fill(round);
    found.first = sent.first;
}

static void collectives(void) {
    MPI_Comm comm = MPI_COMM_WORLD;
    IN_EVERY_LIFETIME(fill, check_all, MPI_Allgather, MPI_Iallgather, MPI_BOTTOM, 1, of_sent, MPI_BOTTOM, 1,
        of_block, comm);
    IN_EVERY_LIFETIME(fill, check_at_root, MPI_Gather, MPI_Igather, MPI_BOTTOM, 1, of_sent, MPI_BOTTOM, 1, of_block,
        root, comm);
    IN_EVERY_LIFETIME(fill_bcast, check_bcast, MPI_Bcast, MPI_Ibcast, MPI_BOTTOM, 1, of_found, root, comm);
}

/* Blocks of the send side begin one extent apart, as in memory. */
static void collectives_by_blocks(void) {
    MPI_Datatype one = absolute(kept, 1);
    MPI_Comm comm = MPI_COMM_WORLD;
    IN_EVERY_LIFETIME(fill, check_from_root, MPI_Scatter, MPI_Iscatter, MPI_BOTTOM, 1, one, MPI_BOTTOM, 1, of_found,
        root, comm);
    IN_EVERY_LIFETIME(fill, check_mine, MPI_Alltoall, MPI_Ialltoall, MPI_BOTTOM, 1, one, MPI_BOTTOM, 1, of_block,
        comm);
    OK(MPI_Type_free(&one));
}

static void reductions(void) {
    MPI_Op op;
    OK(MPI_Op_create(add, 1, &op));
    IN_EVERY_LIFETIME(fill_sum, check_sum, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, MPI_BOTTOM, 1, of_found, op,
        MPI_COMM_WORLD);
    OK(MPI_Op_free(&op));
}

static void messages(void) {
    MPI_Request requests[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, position = 0;
    char packed[64];
    fill(9);
    OK(MPI_Irecv(MPI_BOTTOM, 1, of_found, left, 1, MPI_COMM_WORLD, requests));
    OK(MPI_Send(MPI_BOTTOM, 1, of_sent, right, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(requests, MPI_STATUS_IGNORE));
    check_left(9);
    fill(8);
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, of_sent, right, 1, MPI_BOTTOM, 1, of_found, left, 1, MPI_COMM_WORLD,
        MPI_STATUS_IGNORE));
    check_left(8);
    fill(7);
    found = sent, found.gap = 77;
    OK(MPI_Sendrecv_replace(MPI_BOTTOM, 1, of_found, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_left(7);
    OK(MPI_Send_init(MPI_BOTTOM, 1, of_sent, right, 2, MPI_COMM_WORLD, requests));
    OK(MPI_Recv_init(MPI_BOTTOM, 1, of_found, left, 2, MPI_COMM_WORLD, requests + 1));
    for (int round = 0; round < 4; round++) {
        fill(round);
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check_left(round);
    }
    OK(MPI_Request_free(requests));
    OK(MPI_Request_free(requests + 1));
    fill(6);
    OK(MPI_Pack(MPI_BOTTOM, 1, of_sent, packed, 64, &position, MPI_COMM_WORLD));
    EQUAL(position, 20);
    position = 0;
    OK(MPI_Unpack(packed, 64, &position, MPI_BOTTOM, 1, of_found, MPI_COMM_WORLD));
    check_record(&found, value(rank, 0, 6));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    root = size - 1;
    of_sent = absolute(&sent, 1), of_found = absolute(&found, 1), of_block = absolute(records, 1);
    messages();
    collectives();
    collectives_by_blocks();
    reductions();
    GIVES(MPI_ERR_BUFFER, MPI_Send(MPI_BOTTOM, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
    OK(MPI_Type_free(&of_sent));
    OK(MPI_Type_free(&of_found));
    OK(MPI_Type_free(&of_block));
    return end();
}
