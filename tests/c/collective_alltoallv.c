/* Alltoallv and Alltoallw: blocks of different lengths to and from every rank, in every lifetime and width; where those
   of no elements lie is no matter.
   MPI-5.0: Collective Communication, All-to-All Scatter/Gather. */
#include "lifetimes.h"
#include <stdint.h>

enum { SCALE = 60, MOST = 8, BLOCK = 2 * MOST * SCALE };

static int sent[MOST * BLOCK], received[MOST * BLOCK];
static int send_counts[MOST], recv_counts[MOST], places[MOST], byte_places[MOST];
static MPI_Count large_send_counts[MOST], large_recv_counts[MOST];
static MPI_Aint large_send_places[MOST], large_recv_places[MOST], send_byte_places[MOST], recv_byte_places[MOST];
static MPI_Datatype types[MOST];

static int count_between(int from, int to) {
    return from == to + 1 ? 0 : (from + to) * SCALE + 1;
}

static void lay_out(void) {
    for (int r = 0; r < size; r++) {
        large_send_counts[r] = send_counts[r] = count_between(rank, r);
        large_recv_counts[r] = recv_counts[r] = count_between(r, rank);
        places[r] = (size - 1 - r) * BLOCK;
        byte_places[r] = (int)sizeof(int) * places[r];
        large_send_places[r] = send_counts[r] == 0 ? PTRDIFF_MAX - 1 : places[r];
        large_recv_places[r] = recv_counts[r] == 0 ? PTRDIFF_MIN + 1 : places[r];
        send_byte_places[r] = send_counts[r] == 0 ? PTRDIFF_MAX - 1 : byte_places[r];
        recv_byte_places[r] = recv_counts[r] == 0 ? PTRDIFF_MIN + 1 : byte_places[r];
        types[r] = MPI_INT;
    }
}

static void fill(int round) {
    memset(received, 255, sizeof received);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < send_counts[r]; i++)
            sent[places[r] + i] = 1000000 * rank + 100000 * r + i + round;
}

static void check(int round) {
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < recv_counts[r]; i++)
            EQUAL(received[places[r] + i], 1000000 * r + 100000 * rank + i + round);
        EQUAL(received[places[r] + recv_counts[r]], -1);
    }
}

/* Displacements that are addresses, counted from MPI_BOTTOM. */
static void from_bottom(void) {
    static MPI_Aint send_places[MOST], recv_places[MOST];
    for (int r = 0; r < size; r++) {
        OK(MPI_Get_address(sent + places[r], &send_places[r]));
        OK(MPI_Get_address(received + places[r], &recv_places[r]));
    }
    IN_THREE_LIFETIMES(fill, check, MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, MPI_BOTTOM,
        large_send_counts, send_places, types, MPI_BOTTOM, large_recv_counts, recv_places, types, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    lay_out();
    IN_THREE_LIFETIMES(fill, check, MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, sent, send_counts, places,
        MPI_INT, received, recv_counts, places, MPI_INT, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, check, MPI_Alltoallv_c, MPI_Ialltoallv_c, MPI_Alltoallv_init_c, sent, large_send_counts,
        large_send_places, MPI_INT, received, large_recv_counts, large_recv_places, MPI_INT, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, check, MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, sent, send_counts, byte_places,
        types, received, recv_counts, byte_places, types, MPI_COMM_WORLD);
    IN_THREE_LIFETIMES(fill, check, MPI_Alltoallw_c, MPI_Ialltoallw_c, MPI_Alltoallw_init_c, sent, large_send_counts,
        send_byte_places, types, received, large_recv_counts, recv_byte_places, types, MPI_COMM_WORLD);
    from_bottom();
    return end();
}
