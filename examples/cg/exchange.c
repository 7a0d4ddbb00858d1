/* The communication of the solver, in each of the three lifetimes. */
#include "cg.h"

#include <stdlib.h>

const char *const LIFETIMES[] = {"blocking", "nonblocking", "persistent"};

void open_exchange(struct exchange *exchange, const struct share *share, enum lifetime lifetime) {
    int packed = 0;
    for (int i = 0; i < share->neighbours; i++)
        packed += share->neighbour[i].needs;
    exchange->lifetime = lifetime;
    exchange->share = share;
    exchange->packed = allocate((size_t)packed, sizeof(double));
    exchange->halo = allocate((size_t)share->halo, sizeof(double));
    exchange->requests = 2 * share->neighbours;
    exchange->request = allocate((size_t)exchange->requests, sizeof(MPI_Request));
    if (lifetime != PERSISTENT)
        return;
    for (int i = 0; i < share->neighbours; i++) {
        const struct neighbour *other = &share->neighbour[i];
        MPI_Recv_init(exchange->halo + other->first, other->owns, MPI_DOUBLE, other->rank, TAG_HALO,
                      MPI_COMM_WORLD, &exchange->request[2 * i]);
        MPI_Send_init(exchange->packed + other->packed, other->needs, MPI_DOUBLE, other->rank, TAG_HALO,
                      MPI_COMM_WORLD, &exchange->request[2 * i + 1]);
    }
    MPI_Allreduce_init(exchange->sum_of, exchange->sum_is, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &exchange->sum);
}

void close_exchange(struct exchange *exchange) {
    if (exchange->lifetime == PERSISTENT) {
        for (int i = 0; i < exchange->requests; i++)
            MPI_Request_free(&exchange->request[i]);
        MPI_Request_free(&exchange->sum);
    }
    free(exchange->packed);
    free(exchange->halo);
    free(exchange->request);
}

/* Begins to get the neighbours' values of `x` into the halo. */
void begin_halo(struct exchange *exchange, const double *x) {
    const struct share *share = exchange->share;
    double *packed = exchange->packed;
    for (int i = 0; i < share->neighbours; i++)
        for (int j = 0; j < share->neighbour[i].needs; j++)
            *packed++ = x[share->neighbour[i].rows[j]];
    if (exchange->lifetime == PERSISTENT) {
        MPI_Startall(exchange->requests, exchange->request);
        return;
    }
    /* All go through their neighbours by ascending rank, so in the blocking form nobody waits in a circle. */
    for (int i = 0; i < share->neighbours; i++) {
        const struct neighbour *other = &share->neighbour[i];
        const double *send = exchange->packed + other->packed;
        double *recv = exchange->halo + other->first;
        if (exchange->lifetime == BLOCKING) {
            MPI_Sendrecv(send, other->needs, MPI_DOUBLE, other->rank, TAG_HALO, recv, other->owns, MPI_DOUBLE,
                         other->rank, TAG_HALO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(recv, other->owns, MPI_DOUBLE, other->rank, TAG_HALO, MPI_COMM_WORLD,
                      &exchange->request[2 * i]);
            MPI_Isend(send, other->needs, MPI_DOUBLE, other->rank, TAG_HALO, MPI_COMM_WORLD,
                      &exchange->request[2 * i + 1]);
        }
    }
}

void end_halo(struct exchange *exchange) {
    if (exchange->lifetime != BLOCKING)
        MPI_Waitall(exchange->requests, exchange->request, MPI_STATUSES_IGNORE);
}

/* Sums two values over all ranks; without an exchange there is only this one. */
void sum(struct exchange *exchange, double *first, double *second) {
    if (exchange == NULL)
        return;
    exchange->sum_of[0] = *first;
    exchange->sum_of[1] = *second;
    switch (exchange->lifetime) {
    case BLOCKING:
        MPI_Allreduce(exchange->sum_of, exchange->sum_is, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case NONBLOCKING:
        MPI_Iallreduce(exchange->sum_of, exchange->sum_is, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
                       &exchange->sum);
        MPI_Wait(&exchange->sum, MPI_STATUS_IGNORE);
        break;
    case PERSISTENT:
        MPI_Start(&exchange->sum);
        MPI_Wait(&exchange->sum, MPI_STATUS_IGNORE);
        break;
    }
    *first = exchange->sum_is[0];
    *second = exchange->sum_is[1];
}
