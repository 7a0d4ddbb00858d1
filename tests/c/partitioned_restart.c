/* Partitioned messages bring what their buffers hold at each round: with other numbers of partitions on both sides, in
   partitions that become ready in any order, one by one, in ranges and in lists, of dense and of scattered elements,
   to oneself and to others, within a group and between two, completed in every way.
   MPI-5.0: Partitioned Point-to-Point Communication. */
#include "intercomm.h"
#include "random.h"

enum { ROUNDS = 3, SHAPES = 9, LARGEST = 1 << 20 };

/* Of both sides: partitions, and integers in each. */
static const struct { int partitions[2], counts[2]; } shapes[SHAPES] = {
    {{1, 1}, {1, 1}},      {{4, 4}, {0, 0}},       {{8, 8}, {2, 2}},
    {{6, 4}, {10, 15}},    {{1, 100}, {1000, 10}}, {{300, 2}, {1, 150}},
    {{5, 5}, {1000, 1000}}, {{3, 7}, {70000, 30000}}, {{16, 1}, {16384, 262144}},
};

/* Every second integer. */
static MPI_Datatype scattered;
static Random chance = {7};

static int value(int from, int shape, int round, int place) {
    return from * 1000000 + shape * 100000 + round * 10000 + place % 9973;
}

/* Marks all partitions, in an order and by functions that chance decides. */
static void mark(MPI_Request send, int partitions) {
    int order[300], list[300], length = 0;
    for (int i = 0; i < partitions; i++) {
        int other = next(&chance, i + 1);
        order[i] = order[other], order[other] = i;
    }
    if (next(&chance, 4) == 0) {
        int middle = next(&chance, partitions);
        OK(MPI_Pready_range(middle, partitions - 1, send));
        if (middle > 0)
            OK(MPI_Pready_range(0, middle - 1, send));
        return;
    }
    for (int i = 0; i < partitions; i++)
        if (next(&chance, 2))
            OK(MPI_Pready(order[i], send));
        else
            list[length++] = order[i];
    OK(MPI_Pready_list(length, list, send));
}

static void complete(MPI_Request requests[2], int source, int tag, int ints) {
    MPI_Status statuses[2];
    int way = next(&chance, 5), done = 0, indices[2], count, flag, which;
    if (way == 0) {
        OK(MPI_Waitall(2, requests, statuses));
    } else if (way == 1) {
        while (!done)
            OK(MPI_Testall(2, requests, &done, statuses));
    } else if (way == 2) {
        for (int i = 0; i < 2; i++) {
            MPI_Status status;
            OK(MPI_Waitany(2, requests, &which, &status));
            statuses[which] = status;
        }
    } else if (way == 3) {
        while (done < 2) {
            MPI_Status some[2];
            OK(MPI_Testsome(2, requests, &count, indices, some));
            for (int i = 0; i < count; i++)
                statuses[indices[i]] = some[i];
            done += count;
        }
    } else {
        do
            OK(MPI_Request_get_status(requests[1], &flag, &statuses[1]));
        while (!flag);
        check_status(&statuses[1], source, tag, MPI_INT, ints);
        OK(MPI_Wait(&requests[1], &statuses[1]));
        OK(MPI_Wait(&requests[0], &statuses[0]));
    }
    check_status(&statuses[1], source, tag, MPI_INT, ints);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, "the requests are persistent");
}

/* To `right`, and from `left`, which calls itself `sender`. */
static void exchange(MPI_Comm comm, int right, int left, int me_there, int sender, int is_dense) {
    int *from = malloc(2 * LARGEST), *into = malloc(2 * LARGEST), step = is_dense ? 1 : 2;
    MPI_Datatype type = is_dense ? MPI_INT : scattered;
    MPI_Request all[SHAPES][2];
    for (int shape = 0; shape < SHAPES; shape++) {
        const int *partitions = shapes[shape].partitions, *counts = shapes[shape].counts;
        MPI_Request *requests = all[shape];
        OK(MPI_Psend_init(from, partitions[0], counts[0], type, right, shape, comm, MPI_INFO_NULL, &requests[0]));
        OK(MPI_Precv_init(into, partitions[1], counts[1], type, left, shape, comm, MPI_INFO_NULL, &requests[1]));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int shape = 0; shape < SHAPES; shape++) {
            int ints = shapes[shape].partitions[0] * shapes[shape].counts[0];
            if (ints * step > 2 * LARGEST / (int)sizeof(int))
                continue;
            for (int i = 0; i < ints * step; i++)
                from[i] = value(me_there, shape, round, i), into[i] = -1;
            if (next(&chance, 2)) {
                OK(MPI_Startall(2, all[shape]));
            } else {
                OK(MPI_Start(&all[shape][0]));
                OK(MPI_Start(&all[shape][1]));
            }
            mark(all[shape][0], shapes[shape].partitions[0]);
            complete(all[shape], left, shape, ints);
            for (int i = 0; i < ints * step; i++)
                EQUAL(into[i], i % step ? -1 : value(sender, shape, round, i));
        }
    }
    for (int shape = 0; shape < SHAPES; shape++) {
        OK(MPI_Request_free(&all[shape][0]));
        OK(MPI_Request_free(&all[shape][1]));
    }
    free(from), free(into);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    chance.state += rank;
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &scattered));
    OK(MPI_Type_commit(&scattered));
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int is_dense = 0; is_dense < 2; is_dense++) {
        exchange(MPI_COMM_WORLD, right, left, rank, left, is_dense);
        exchange(MPI_COMM_SELF, 0, 0, rank, rank, is_dense);
    }
    if (size > 1) {
        connect_groups();
        /* In pairs; who has no partner has a rest. */
        if (me < remotes && me < locals)
            exchange(inter, me, me, rank, world_rank(1 - side, me), 1);
        disconnect_groups();
    }
    OK(MPI_Type_free(&scattered));
    return end();
}
