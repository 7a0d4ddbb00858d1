/* Exchange with the four neighbours in a periodic grid of processes, by neighbourhood collectives and by messages.

   Directions are in the order of a cartesian communicator: down and up the first dimension, down and up the second.
   What is sent in one direction arrives from the opposite one, so that a message carries its direction as its tag: two ranks
   in a dimension are each other's neighbours on both sides.

   A field is a square with a border of one element around it. Its rows lie together; a column is a datatype. */
#include "bench.h"
#include <stdlib.h>
#include <string.h>

MPI_Comm grid;
int neighbors[DIRECTIONS];

static double *field;
static long edge, pitch; /* elements of a side, and from a row to the next */
static double *send_at[DIRECTIONS], *receive_at[DIRECTIONS];
static int send_counts[DIRECTIONS], receive_counts[DIRECTIONS];
static MPI_Datatype types[DIRECTIONS], column;
static MPI_Aint send_bytes[DIRECTIONS], receive_bytes[DIRECTIONS];

void grid_create(void) {
    int extents[2] = {0, 0}, periodic[2] = {1, 1};
    MPI_Dims_create(size, 2, extents);
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periodic, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &neighbors[0], &neighbors[1]);
    MPI_Cart_shift(grid, 1, 1, &neighbors[2], &neighbors[3]);
}

static double *cell(long row, long line) {
    return field + row * pitch + line;
}

/* The first cell of the row or column that is sent in a direction, or of the border that is received from it. */
static double *side(int direction, bool border) {
    long low = border ? 0 : 1, high = border ? edge + 1 : edge;
    switch (direction) {
    case 0: return cell(low, 1);
    case 1: return cell(high, 1);
    case 2: return cell(1, low);
    default: return cell(1, high);
    }
}

void neighbors_prepare(void) {
    bool of_field = point.operation->traits & FIELD;
    if (of_field) {
        edge = point.bytes / (long)sizeof *field;
        pitch = edge + 2;
        field = malloc((size_t)(pitch * pitch) * sizeof *field);
        if (!field)
            MPI_Abort(MPI_COMM_WORLD, 3);
        memset(field, 0, (size_t)(pitch * pitch) * sizeof *field);
        MPI_Type_vector((int)edge, 1, (int)pitch, MPI_DOUBLE, &column);
        MPI_Type_commit(&column);
    }
    for (int d = 0; d < DIRECTIONS; d++) {
        bool by_column = of_field && d >= 2;
        types[d] = by_column ? column : MPI_DOUBLE;
        send_at[d] = of_field ? side(d, false) : from + from_places[d];
        receive_at[d] = of_field ? side(d, true) : into + into_places[d];
        send_counts[d] = by_column ? 1 : from_counts[d];
        receive_counts[d] = by_column ? 1 : into_counts[d];
        send_bytes[d] = (char *)send_at[d] - (char *)(of_field ? field : from);
        receive_bytes[d] = (char *)receive_at[d] - (char *)(of_field ? field : into);
    }
}

void neighbors_release(void) {
    if (point.operation->traits & FIELD) {
        MPI_Type_free(&column);
        free(field);
    }
}

int neighbors_begin(enum lifetime lifetime, MPI_Request *request) {
    const MPI_Datatype type = MPI_DOUBLE;
    int sent = *from_counts, received = *into_counts;
    switch (point.id) {
    case NEIGHBOR_ALLGATHER:
        return CALL(Neighbor_allgather, Ineighbor_allgather, from, sent, type, into, received, type, grid);
    case NEIGHBOR_ALLGATHERV:
        return CALL(Neighbor_allgatherv, Ineighbor_allgatherv, from, sent, type, into, into_counts, into_places, type,
                    grid);
    case NEIGHBOR_ALLTOALL:
        return CALL(Neighbor_alltoall, Ineighbor_alltoall, from, sent, type, into, received, type, grid);
    case NEIGHBOR_ALLTOALLV:
        return CALL(Neighbor_alltoallv, Ineighbor_alltoallv, from, from_counts, from_places, type, into, into_counts,
                    into_places, type, grid);
    default: {
        double *out = point.id == FIELD_ALLTOALLW ? field : from, *in = point.id == FIELD_ALLTOALLW ? field : into;
        return CALL(Neighbor_alltoallw, Ineighbor_alltoallw, out, send_counts, send_bytes, types, in, receive_counts,
                    receive_bytes, types, grid);
    }
    }
}

/* The same exchange by messages: one after another in blocking calls; otherwise DIRECTIONS receives and as many sends
   in `requests`. */
int messages_begin(enum lifetime lifetime, MPI_Request *requests) {
    int code = MPI_SUCCESS;
    for (int d = 0; d < DIRECTIONS; d++) {
        int back = d ^ 1; /* what arrives from there was sent in direction d */
        MPI_Request *receive = &requests[d], *send = &requests[DIRECTIONS + d];
        if (lifetime == BLOCKING)
            code |= MPI_Sendrecv(send_at[d], send_counts[d], types[d], neighbors[d], d, receive_at[back],
                                 receive_counts[back], types[back], neighbors[back], d, grid, MPI_STATUS_IGNORE);
        else if (lifetime == NONBLOCKING)
            code |= MPI_Irecv(receive_at[d], receive_counts[d], types[d], neighbors[d], back, grid, receive);
        else {
            code |= MPI_Recv_init(receive_at[d], receive_counts[d], types[d], neighbors[d], back, grid, receive);
            code |= MPI_Send_init(send_at[d], send_counts[d], types[d], neighbors[d], d, grid, send);
        }
    }
    for (int d = 0; d < DIRECTIONS && lifetime == NONBLOCKING; d++)
        code |= MPI_Isend(send_at[d], send_counts[d], types[d], neighbors[d], d, grid, &requests[DIRECTIONS + d]);
    return code;
}

/* Corners belong to two sides, so that a value goes by the place and not by the direction. */
void field_fill(int batch) {
    for (long row = 0; row < pitch; row++)
        for (long line = 0; line < pitch; line++) {
            bool border = row == 0 || line == 0 || row == edge + 1 || line == edge + 1;
            *cell(row, line) = border ? -1 : value(rank, (int)(row % 5), batch, line);
        }
}

long field_wrong(int batch) {
    long wrong = 0;
    for (long i = 1; i <= edge; i++) {
        wrong += *cell(0, i) != value(neighbors[0], (int)(edge % 5), batch, i);
        wrong += *cell(edge + 1, i) != value(neighbors[1], 1, batch, i);
        wrong += *cell(i, 0) != value(neighbors[2], (int)(i % 5), batch, edge);
        wrong += *cell(i, edge + 1) != value(neighbors[3], (int)(i % 5), batch, 1);
    }
    return wrong;
}
