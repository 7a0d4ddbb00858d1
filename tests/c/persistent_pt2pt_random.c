/* Persistent sends and receives that are started over and over, several of them with the same envelope, among ordinary
   messages, probes, wildcards and cancelled receives, within a group and between two: what a receive gets is what the
   order of messages says.
   MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication; Persistent Communication
   Requests. */
#include "check.h"
#include "intercomm.h"
#include "random.h"

/* Of each pair of ranks: persistent requests, messages of a round at most, and two tags. */
enum { PLANNED = 6, MOST = 12, TAGS = 2, PEERS = 16, LONGEST = 40000, ROUNDS = 150 };

/* What goes from one rank to another in a round: by which persistent request, or by none, and the tag. */
typedef struct { int count, by[MOST], tag[MOST]; } Traffic;

typedef struct { MPI_Request request; int *into, from, tag, number; } Receive;

static MPI_Comm comm;
static int peers, is_wild;
static MPI_Request sends[PEERS][PLANNED], ordinary[PEERS][MOST], receives[PEERS][PLANNED];
static int sent[PEERS][PLANNED][LONGEST], sent_once[PEERS][MOST][LONGEST];
static int received[PEERS][PLANNED][LONGEST], received_once[PEERS][MOST][LONGEST];
static Receive active[PEERS * MOST];

/* Two persistent requests in a row have the same tag, and other lengths. */
static int tag_of(int planned) {
    return planned / 2 % TAGS;
}

static int length_of(int planned) {
    return planned == 0 ? LONGEST : planned == 1 ? 1 : planned == 4 ? 3000 : 2;
}

/* The rank in the world of a peer. */
static int world_of(int peer) {
    return comm == inter ? world_rank(1 - side, peer) : peer;
}

/* The same for both ends. */
static Traffic draw(int round, int from, int to) {
    Random random = {(unsigned long long)round * 1000003 + from * 1009 + to};
    Traffic traffic = {next(&random, MOST + 1), {0}, {0}};
    int is_used[PLANNED] = {0};
    for (int m = 0; m < traffic.count; m++) {
        int by = next(&random, 2 * PLANNED);
        int is_planned = by < PLANNED && !is_used[by];
        traffic.by[m] = is_planned ? by : -1;
        traffic.tag[m] = is_planned ? tag_of(by) : next(&random, TAGS);
        if (is_planned)
            is_used[by] = 1;
    }
    return traffic;
}

/* What a message begins with: which of its sender and receiver, and tag, it is. */
static int first_word(int from, int to, int tag, int number) {
    return ((from * PEERS + to) * TAGS + tag) * MOST + number;
}

static void make_send(int peer, int planned) {
    int *from = sent[peer][planned], count = length_of(planned), tag = tag_of(planned);
    if (planned % 3 == 0)
        OK(MPI_Ssend_init(from, count, MPI_INT, peer, tag, comm, &sends[peer][planned]));
    else
        OK(MPI_Send_init(from, count, MPI_INT, peer, tag, comm, &sends[peer][planned]));
}

static void make(void) {
    for (int peer = 0; peer < peers; peer++)
        for (int p = 0; p < PLANNED; p++) {
            make_send(peer, p);
            OK(MPI_Recv_init(received[peer][p], LONGEST, MPI_INT, is_wild ? MPI_ANY_SOURCE : peer,
                is_wild ? MPI_ANY_TAG : tag_of(p), comm, &receives[peer][p]));
        }
}

static void end_all(void) {
    for (int peer = 0; peer < peers; peer++)
        for (int p = 0; p < PLANNED; p++) {
            OK(MPI_Request_free(&sends[peer][p]));
            OK(MPI_Request_free(&receives[peer][p]));
        }
}

static void send_all(int round) {
    for (int peer = 0; peer < peers; peer++) {
        Traffic traffic = draw(round, rank, world_of(peer));
        int numbers[TAGS] = {0};
        for (int m = 0; m < traffic.count; m++) {
            int by = traffic.by[m], tag = traffic.tag[m];
            int word = first_word(rank, world_of(peer), tag, numbers[tag]++);
            if (by < 0) {
                sent_once[peer][m][0] = word;
                OK(MPI_Isend(sent_once[peer][m], 1 + word % 50, MPI_INT, peer, tag, comm, &ordinary[peer][m]));
            } else {
                sent[peer][by][0] = sent[peer][by][length_of(by) - 1] = word;
                OK(MPI_Start(&sends[peer][by]));
                ordinary[peer][m] = MPI_REQUEST_NULL;
            }
        }
    }
}

/* A receive that is started is cancelled while nothing was sent to it. */
static void cancel_one(void) {
    MPI_Request request;
    MPI_Status status;
    int cancelled, value = -1;
    OK(MPI_Recv_init(&value, 1, MPI_INT, 0, TAGS, comm, &request));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&request));
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &cancelled));
        CHECK(cancelled && value == -1, "nobody sends with this tag");
    }
    OK(MPI_Request_free(&request));
}

/* Begins to receive the next message of a peer with a tag. */
static Receive receive_next(Random *random, int peer, int tag, int number, int is_used[PEERS][PLANNED], int place) {
    Receive it = {MPI_REQUEST_NULL, received_once[peer][place], peer, tag, number};
    MPI_Message message;
    MPI_Status status;
    int source = is_wild ? MPI_ANY_SOURCE : peer, which = is_wild ? MPI_ANY_TAG : tag;
    for (int p = next(random, 2 * PLANNED); p < PLANNED; p++)
        if ((is_wild || tag_of(p) == tag) && !is_used[peer][p]) {
            is_used[peer][p] = 1;
            it.into = received[peer][p];
            it.into[0] = -1;
            OK(MPI_Start(&receives[peer][p]));
            it.request = receives[peer][p];
            return it;
        }
    if (is_wild || next(random, 2)) {
        OK(MPI_Irecv(it.into, LONGEST, MPI_INT, source, which, comm, &it.request));
    } else if (next(random, 2)) {
        OK(MPI_Mprobe(source, which, comm, &message, &status));
        OK(MPI_Imrecv(it.into, LONGEST, MPI_INT, &message, &it.request));
    } else {
        OK(MPI_Probe(source, which, comm, &status));
        OK(MPI_Recv(it.into, LONGEST, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
    }
    return it;
}

/* One receive for each message, those of a peer and a tag in their order. */
static int receive_all(Random *random, int round) {
    int is_used[PEERS][PLANNED] = {{0}}, count = 0;
    for (int peer = 0; peer < peers; peer++) {
        Traffic traffic = draw(round, world_of(peer), rank);
        int numbers[TAGS] = {0};
        for (int m = 0; m < traffic.count; m++) {
            int tag = traffic.tag[m];
            active[count++] = receive_next(random, peer, tag, numbers[tag]++, is_used, m);
        }
    }
    return count;
}

static void complete(Random *random, MPI_Request *request, MPI_Status *status) {
    int done = 0, index;
    switch (next(random, 4)) {
    case 0:
        while (!done)
            OK(MPI_Test(request, &done, status));
        break;
    case 1:
        OK(MPI_Waitany(1, request, &index, status));
        break;
    default:
        OK(MPI_Wait(request, status));
    }
}

static void check_all(Random *random, int count) {
    int numbers[PEERS][TAGS] = {{0}}, begin = next(random, count + 1);
    MPI_Status status[PEERS * MOST];
    for (int i = 0; i < count; i++) {
        int r = (begin + i) % count;
        status[r].MPI_SOURCE = active[r].from, status[r].MPI_TAG = active[r].tag;
        if (active[r].request != MPI_REQUEST_NULL)
            complete(random, &active[r].request, &status[r]);
    }
    /* Receives that name neither sender nor tag take the messages of each sender in their order. */
    for (int r = 0; r < count; r++) {
        int from = status[r].MPI_SOURCE, tag = status[r].MPI_TAG;
        EQUAL(active[r].into[0], first_word(world_of(from), rank, tag, numbers[from][tag]++));
        CHECK(is_wild || from == active[r].from, "the sender that was named");
    }
}

/* Some of the persistent sends are freed while they are active, and made anew. */
static void finish_sends(Random *random, int round) {
    for (int peer = 0; peer < peers; peer++) {
        Traffic traffic = draw(round, rank, world_of(peer));
        for (int m = 0; m < traffic.count; m++) {
            int by = traffic.by[m];
            if (by < 0) {
                OK(MPI_Wait(&ordinary[peer][m], MPI_STATUS_IGNORE));
            } else if (next(random, 8) == 0) {
                OK(MPI_Request_free(&sends[peer][by]));
                make_send(peer, by);
            } else {
                complete(random, &sends[peer][by], MPI_STATUS_IGNORE);
            }
        }
    }
}

static void run(int seed) {
    make();
    for (int round = seed; round < seed + ROUNDS; round++) {
        Random random = {(unsigned long long)round * 31 + rank};
        int sends_first = next(&random, 2), count;
        /* Who only receives what was probed for must not wait before it has sent. */
        sends_first |= !is_wild;
        if (sends_first)
            send_all(round);
        if (next(&random, 4) == 0 && !is_wild)
            cancel_one();
        count = receive_all(&random, round);
        if (!sends_first)
            send_all(round);
        check_all(&random, count);
        finish_sends(&random, round);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    end_all();
}

int main(int argc, char **argv) {
    int seed = argc > 1 ? atoi(argv[1]) : 42;
    begin(&argc, &argv);
    CHECK(size <= PEERS, "at most %d ranks", PEERS);
    if (size > 1)
        connect_groups();
    for (int kind = 0; kind < 4; kind++) {
        comm = kind < 2 ? MPI_COMM_WORLD : inter, is_wild = kind % 2;
        peers = kind < 2 ? size : remotes;
        if (kind < 2 || size > 1)
            run(seed + kind * ROUNDS);
    }
    if (size > 1)
        disconnect_groups();
    return end();
}
