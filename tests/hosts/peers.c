// How long messages and collectives take between hosts: a line `case bytes microseconds` for each; behind that of a
// persistent operation is what the blocking call takes, batch by batch in turn with it.
//
//     peers CASES LEAST_MS MOST_S
//
// CASES are separated by commas. The time of a cell is the least of many batches' means, each of which takes about
// LEAST_MS where it takes longest: while some of these nobody else wants the processors. It may take MOST_S in all, if
// it has had five batches. Ping-pong is half of the way there and back, bandwidth the time of a message among 32.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 60, WINDOW = 32, MOST_BYTES = 4 << 20, MOST_IN_ALL = 32 << 20 };

static int rank, size, far;
static char *from, *into;
static MPI_Request request;
static MPI_Comm ring;

static void pingpong(int bytes) {
    if (rank == 0) {
        MPI_Send(from, bytes, MPI_CHAR, far, 0, MPI_COMM_WORLD);
        MPI_Recv(into, bytes, MPI_CHAR, far, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == far) {
        MPI_Recv(into, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
}

static void bandwidth(int bytes) {
    MPI_Request all[WINDOW];
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Isend(from, bytes, MPI_CHAR, far, 1, MPI_COMM_WORLD, &all[i]);
        MPI_Waitall(WINDOW, all, MPI_STATUSES_IGNORE);
        MPI_Recv(into, 1, MPI_CHAR, far, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == far) {
        for (int i = 0; i < WINDOW; i++)
            MPI_Irecv(into, bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &all[i]);
        MPI_Waitall(WINDOW, all, MPI_STATUSES_IGNORE);
        MPI_Send(from, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    }
}

static void barrier(int bytes) {
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int bytes) {
    MPI_Allreduce(from, into, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void bcast(int bytes) {
    MPI_Bcast(from, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void alltoall(int bytes) {
    MPI_Alltoall(from, bytes, MPI_CHAR, into, bytes, MPI_CHAR, MPI_COMM_WORLD);
}

static void neighbours(int bytes) {
    MPI_Neighbor_alltoall(from, bytes, MPI_CHAR, into, bytes, MPI_CHAR, ring);
}

static void begin_allreduce(int bytes) {
    MPI_Allreduce_init(from, into, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}

static void begin_neighbours(int bytes) {
    MPI_Neighbor_alltoall_init(from, bytes, MPI_CHAR, into, bytes, MPI_CHAR, ring, MPI_INFO_NULL, &request);
}

static void start(int bytes) {
    (void)bytes;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*begin)(int), (*turn)(int);
    // The blocking call of a persistent operation.
    void (*call)(int);
    // Of both buffers, in the longest message's length: 0 where all ranks have a block.
    int blocks;
    double per_turn;
} cases[] = {
    {"pingpong", NULL, pingpong, NULL, 1, 2}, {"bandwidth", NULL, bandwidth, NULL, 1, WINDOW}, {"barrier", NULL, barrier, NULL, -1, 1},
    {"allreduce", NULL, allreduce, NULL, 1, 1}, {"bcast", NULL, bcast, NULL, 1, 1}, {"alltoall", NULL, alltoall, NULL, 0, 1},
    {"neighbours", NULL, neighbours, NULL, 2, 1}, {"persistent-allreduce", begin_allreduce, start, allreduce, 1, 1},
    {"persistent-neighbours", begin_neighbours, start, neighbours, 2, 1},
};

static double batch(void (*turn)(int), int bytes, int turns) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < turns; i++)
        turn(bytes);
    double took = MPI_Wtime() - begin, longest;
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

struct times {
    double turn, call;
};

static double lesser(double one, double other) {
    return one < other ? one : other;
}

static struct times measure(void (*turn)(int), void (*call)(int), int bytes, double least_s, double most_s) {
    int turns = 2;
    batch(turn, bytes, turns);
    double took = batch(turn, bytes, turns);
    while (took < least_s && turns < 1 << 20) {
        double more = took > 0 ? least_s / took * 1.2 : 100;
        turns = (int)(turns * (more > 20 ? 20 : more)) + 1;
        took = batch(turn, bytes, turns);
    }
    double called = call ? batch(call, bytes, turns) : 0;
    double begin = MPI_Wtime(), over = 0;
    // As many as all agree on: one rank's clock decides.
    for (int i = 0; i < BATCHES && !over; i++) {
        took = lesser(took, batch(turn, bytes, turns));
        called = call ? lesser(called, batch(call, bytes, turns)) : 0;
        over = i >= 4 && MPI_Wtime() - begin > most_s;
        MPI_Bcast(&over, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    return (struct times){took / turns, called / turns};
}

static int is_among(const char *name, const char *list) {
    size_t length = strlen(name);
    for (const char *word = list; word; word = strchr(word, ',')) {
        word += *word == ',';
        if (strncmp(word, name, length) == 0 && (word[length] == ',' || word[length] == 0))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    far = size - 1;
    int periods = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periods, 0, &ring);
    from = calloc(1, MOST_IN_ALL);
    into = calloc(1, MOST_IN_ALL);
    for (int i = 0; i < MOST_IN_ALL / 8; i++)
        ((double *)from)[i] = i % 7;
    memset(into, 1, MOST_IN_ALL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && !is_among(cases[i].name, argv[1]))
            continue;
        int blocks = cases[i].blocks ? cases[i].blocks : size;
        for (long bytes = 8; bytes <= MOST_BYTES && bytes * blocks <= MOST_IN_ALL; bytes *= bytes < 4096 ? 8 : 4) {
            if (cases[i].begin)
                cases[i].begin((int)bytes);
            double least_s = (argc > 2 ? atof(argv[2]) : 10) / 1e3, most_s = argc > 3 ? atof(argv[3]) : 0.5;
            struct times took = measure(cases[i].turn, cases[i].call, (int)bytes, least_s, most_s);
            if (cases[i].begin)
                MPI_Request_free(&request);
            if (rank == 0)
                printf("%s %ld %.3f", cases[i].name, blocks < 0 ? 0 : bytes, took.turn * 1e6 / cases[i].per_turn);
            if (rank == 0 && cases[i].call)
                printf(" %.3f", took.call * 1e6 / cases[i].per_turn);
            if (rank == 0)
                printf("\n");
            fflush(stdout);
            if (blocks < 0)
                break;
        }
    }
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
