/* A freed datatype lives on in the datatypes made of it, in operations under way and in persistent requests; a
   duplicate is committed if the original is. MPI-5.0: Datatypes, Commit and Free, Duplicating a Datatype. */
#include "lifetimes.h"

enum { COUNT = 4000, SPAN = 3 * COUNT };

static int sent[SPAN], found[SPAN];

static MPI_Datatype strided(void) {
    MPI_Datatype inner, made;
    OK(MPI_Type_create_resized(MPI_INT, 0, 12, &inner));
    OK(MPI_Type_contiguous(COUNT, inner, &made));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_commit(&made));
    return made;
}

static void fill(int round) {
    for (int i = 0; i < SPAN; i++)
        sent[i] = i % 3 ? -7 : 10000 * rank + i + round, found[i] = -1;
}

static void check(int source, int round) {
    for (int i = 0; i < SPAN; i++)
        EQUAL(found[i], i % 3 ? -1 : 10000 * source + i + round);
}

static void check_pending(void) {
    MPI_Datatype send = strided(), recv = strided();
    MPI_Request requests[3];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    fill(0);
    OK(MPI_Irecv(found, 1, recv, left, 0, MPI_COMM_WORLD, requests));
    OK(MPI_Isend(sent, 1, send, right, 0, MPI_COMM_WORLD, requests + 1));
    OK(MPI_Type_free(&recv));
    OK(MPI_Type_free(&send));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check(left, 0);
    send = strided(), recv = strided();
    OK(MPI_Recv_init(found, 1, recv, left, 0, MPI_COMM_WORLD, requests));
    OK(MPI_Send_init(sent, 1, send, right, 0, MPI_COMM_WORLD, requests + 1));
    OK(MPI_Type_free(&recv));
    OK(MPI_Type_free(&send));
    for (int round = 1; round < 4; round++) {
        fill(round);
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check(left, round);
    }
    OK(MPI_Request_free(requests));
    OK(MPI_Request_free(requests + 1));
}

static void check_collective(void) {
    MPI_Datatype type = strided();
    MPI_Request request;
    fill(5);
    if (rank == 0)
        memcpy(found, sent, sizeof found);
    for (int i = 0; i < SPAN; i++)
        found[i] = i % 3 ? -1 : found[i];
    OK(MPI_Ibcast(found, 1, type, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&type));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check(0, 5);
    type = strided();
    OK(MPI_Bcast_init(found, 1, type, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    OK(MPI_Type_free(&type));
    for (int round = 6; round < 9; round++) {
        fill(round);
        for (int i = 0; i < SPAN; i++)
            found[i] = i % 3 || rank != 0 ? -1 : sent[i];
        OK(MPI_Start(&request));
        wait_for(&request, round);
        check(0, round);
    }
    OK(MPI_Request_free(&request));
}

static void check_duplicates(void) {
    MPI_Datatype type, early, late;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    OK(MPI_Type_dup(type, &early));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_set_name(type, "pairs"));
    OK(MPI_Type_dup(type, &late));
    OK(MPI_Type_get_name(late, name, &length));
    EQUAL(length, 0);
    OK(MPI_Type_free(&type));
    GIVES(MPI_ERR_TYPE, MPI_Bcast(found, 1, early, 0, MPI_COMM_WORLD));
    fill(1);
    OK(MPI_Sendrecv(sent, 1, late, rank, 0, found, 1, late, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(found[0], sent[0]);
    EQUAL(found[1], -1);
    EQUAL(found[2], sent[2]);
    OK(MPI_Type_commit(&early));
    OK(MPI_Bcast(found, 1, early, 0, MPI_COMM_WORLD));
    OK(MPI_Type_free(&early));
    OK(MPI_Type_free(&late));
    OK(MPI_Type_dup(MPI_DOUBLE, &type));
    OK(MPI_Bcast(found, 1, type, 0, MPI_COMM_WORLD));
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    check_pending();
    check_collective();
    check_duplicates();
    return end();
}
