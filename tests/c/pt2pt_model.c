/* Random rounds of messages between all processes, on several communicators, against a reference model: sends of all
   modes, persistent ones restarted with other data, cancelled ones; receives with and without wildcards, probes, matched
   probes, cancelled receives; partitioned ones beside them; completed by every function; and pairs that make blocking
   calls meanwhile.
   MPI-5.0: Point-to-Point Communication, Semantics; Probe and Cancel; Persistent Communication Requests; Partitioned
   Point-to-Point Communication.

   What is sent is drawn alike on all processes, and how it is received by each for itself. When all sends are started,
   receives that are pending are cancelled, and what is left is received; the judge then says whether each message may
   have gone where it went. `--seed S --case N` runs one case, on as many ranks as it failed on, `--cases M` M from there
   on. */
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "model/partitions.h"

/* Communicators are made anew after EPOCH cases. A case that takes LIMIT_S seconds hangs. */
enum { EPOCH = 50, LIMIT_S = 40, MOST_ROUNDS = 3, ATTACHED_BYTES = 8 << 20, HANDSHAKE = 5 };

static MPI_Request sends[MOST_MESSAGES], slot_requests[SEND_SLOTS];
static unsigned char *sent_data[MOST_MESSAGES], *slot_data[SEND_SLOTS];
static uint64_t seed;
static long messages_run, partitions_run;

static void hangs(int signal) {
    (void)signal;
    static const char text[] = " has not ended\n";
    (void)!write(2, case_name, strlen(case_name));
    (void)!write(2, text, sizeof text - 1);
    _exit(3);
}

/* Lets other processes get ahead. */
static void dawdle(void) {
    for (int i = next(&own_dice, 12) - 8; i > 0; i--)
        sched_yield();
}

static void make_send_slots(void) {
    for (int s = 0; s < slot_count; s++) {
        const Message *it = &slots[s];
        if (it->from != rank)
            continue;
        unsigned char *data = slot_data[s] = malloc((size_t)it->bytes + 1);
        int to = rank_of(it->comm, it->to);
        MPI_Comm comm = comms[it->comm].comm;
        MPI_Request *request = &slot_requests[s];
        switch (it->mode) {
        case SYNCHRONOUS: OK(MPI_Ssend_init(data, it->bytes, MPI_BYTE, to, it->tag, comm, request)); break;
        case BUFFERED: OK(MPI_Bsend_init(data, it->bytes, MPI_BYTE, to, it->tag, comm, request)); break;
        default: OK(MPI_Send_init(data, it->bytes, MPI_BYTE, to, it->tag, comm, request));
        }
    }
}

static void free_send_slots(void) {
    for (int s = 0; s < slot_count; s++)
        if (slots[s].from == rank) {
            OK(MPI_Request_free(&slot_requests[s]));
            free(slot_data[s]);
        }
}

static void begin_send(int m) {
    const Message *it = &messages[m];
    if (it->slot >= 0) {
        fill(it, slot_data[it->slot]);
        OK(MPI_Start(&slot_requests[it->slot]));
        sends[m] = slot_requests[it->slot];
        return;
    }
    unsigned char *data = sent_data[m] = malloc((size_t)it->bytes + 1);
    int to = rank_of(it->comm, it->to);
    MPI_Comm comm = comms[it->comm].comm;
    fill(it, data);
    switch (it->mode) {
    case SYNCHRONOUS: OK(MPI_Issend(data, it->bytes, MPI_BYTE, to, it->tag, comm, &sends[m])); break;
    case BUFFERED: OK(MPI_Ibsend(data, it->bytes, MPI_BYTE, to, it->tag, comm, &sends[m])); break;
    default: OK(MPI_Isend(data, it->bytes, MPI_BYTE, to, it->tag, comm, &sends[m]));
    }
    if (it->may_be_cancelled && next(&own_dice, 2))
        dawdle();
    if (it->may_be_cancelled)
        OK(MPI_Cancel(&sends[m]));
}

/* Begins all sends of this process, in order, and receives meanwhile. */
static void run_freely(void) {
    int m = 0, receives_left = 0, idle = next(&own_dice, 10);
    for (int i = 0; i < message_count; i++)
        receives_left += messages[i].to == rank;
    receives_left += next(&own_dice, 5) - 2;
    while (m < message_count || receives_left > 0 || idle > 0) {
        switch (next(&own_dice, side_count > 0 ? 18 : 12)) {
        case 0: case 1: case 2: case 3: case 4:
            while (m < message_count && messages[m].from != rank)
                m++;
            if (m < message_count)
                begin_send(m++);
            else
                idle--;
            break;
        case 5: case 6: case 7:
            if (receives_left-- > 0)
                begin_receive();
            break;
        case 8: take_if_any(); break;
        case 9: probe_if_any(); break;
        case 10: complete_some(0); break;
        case 12: case 13: case 14: case 15: case 16: case 17: move_some_side(); break;
        default: next(&own_dice, 3) ? dawdle() : cancel_one();
        }
    }
}

/* Sends by a call that may wait for its receive. */
static void send_in_turn(const Message *it, unsigned char *data) {
    int to = rank_of(it->comm, it->to);
    MPI_Comm comm = comms[it->comm].comm;
    switch (it->mode) {
    case SYNCHRONOUS: OK(MPI_Ssend(data, it->bytes, MPI_BYTE, to, it->tag, comm)); break;
    case BUFFERED: OK(MPI_Bsend(data, it->bytes, MPI_BYTE, to, it->tag, comm)); break;
    case READY:
        OK(MPI_Recv(NULL, 0, MPI_BYTE, it->to, HANDSHAKE, aside, MPI_STATUS_IGNORE));
        OK(MPI_Rsend(data, it->bytes, MPI_BYTE, to, it->tag, comm));
        break;
    default: OK(MPI_Send(data, it->bytes, MPI_BYTE, to, it->tag, comm));
    }
}

static void receive_in_turn(const Message *it, unsigned char *data, MPI_Status *status) {
    int from = rank_of(it->comm, it->from), tag = next(&own_dice, 2) ? it->tag : MPI_ANY_TAG, way = next(&own_dice, 4);
    MPI_Comm comm = comms[it->comm].comm;
    MPI_Message taken;
    MPI_Request request;
    if (it->mode == READY || way == 0) {
        OK(MPI_Irecv(data, it->bytes, MPI_BYTE, from, tag, comm, &request));
        if (it->mode == READY)
            OK(MPI_Send(NULL, 0, MPI_BYTE, it->from, HANDSHAKE, aside));
        OK(MPI_Wait(&request, status));
    } else if (way == 1) {
        OK(MPI_Mprobe(from, tag, comm, &taken, status));
        OK(MPI_Mrecv(data, it->bytes, MPI_BYTE, &taken, status));
    } else {
        if (way == 2)
            OK(MPI_Probe(from, tag, comm, MPI_STATUS_IGNORE));
        OK(MPI_Recv(data, it->bytes, MPI_BYTE, from, tag, comm, status));
    }
}

/* One pair after the other, so that nobody waits for ever. */
static void take_turns(void) {
    for (int t = 0; t < turn_count; t++) {
        const Message *it = &turns[t];
        if (it->from != rank && it->to != rank)
            continue;
        unsigned char *out = malloc((size_t)it->bytes + 1), *in = malloc((size_t)it->bytes + 1);
        int other = it->from == rank ? it->to : it->from, peer = rank_of(it->comm, other);
        MPI_Status status;
        fill(it, out);
        memset(in, UNTOUCHED, (size_t)it->bytes);
        if (it->mode == EXCHANGE)
            OK(MPI_Sendrecv(out, it->bytes, MPI_BYTE, peer, it->tag, in, it->bytes, MPI_BYTE, peer, it->tag,
                            comms[it->comm].comm, &status));
        else if (it->from == rank)
            send_in_turn(it, out);
        else
            receive_in_turn(it, in, &status);
        if (it->mode == EXCHANGE || it->to == rank) {
            check_status(&status, peer, it->tag, MPI_BYTE, it->bytes);
            CHECK(memcmp(in, out, (size_t)it->bytes) == 0, "%s: turn %d brings other data", case_name, t);
        }
        free(in);
        free(out);
    }
}

/* Tells everybody which messages were cancelled. */
static void agree_on_withdrawn(void) {
    int mine[MOST_MESSAGES] = {0};
    for (int m = 0; m < message_count; m++)
        if (messages[m].from == rank && messages[m].may_be_cancelled) {
            MPI_Status status;
            OK(MPI_Wait(&sends[m], &status));
            OK(MPI_Test_cancelled(&status, &mine[m]));
        }
    OK(MPI_Allreduce(mine, is_withdrawn, message_count, MPI_INT, MPI_SUM, aside));
}

/* Completes what is left of the sends, and what is partitioned, which is started again until its rounds are run. */
static void complete_sends(void) {
    enum { MOST = MOST_MESSAGES + 2 * MOST_PAIRS };
    MPI_Request left[MOST];
    MPI_Status statuses[MOST];
    int count = 0, flag = 1, done[MOST] = {0}, way = next(&own_dice, 5);
    for (int m = 0; m < message_count; m++)
        if (messages[m].from == rank && sends[m] != MPI_REQUEST_NULL)
            left[count++] = sends[m];
    int plain = count, plain_left = count;
    for (int s = 0; s < side_count; s++)
        left[count++] = sides[s].request;
    for (int active; (active = plain_left + release_sides()) > 0;) {
        /* Not for all, as long as others may need what is started next before that can end. */
        int function = way == 0 && has_rounds_left() ? 2 : way, found = 0;
        switch (function) {
        case 0: OK(MPI_Waitall(count, left, statuses)); found = count; break;
        case 1: OK(MPI_Waitany(count, left, done, statuses)); found = 1; break;
        case 2: OK(MPI_Waitsome(count, left, &found, done, statuses)); break;
        case 3: OK(MPI_Testsome(count, left, &found, done, statuses)); break;
        default:
            OK(MPI_Testany(count, left, done, &flag, statuses));
            found = flag;
        }
        CHECK(found != MPI_UNDEFINED && (found == 0 || done[0] != MPI_UNDEFINED), "%d sends are active", active);
        for (int i = 0; i < found; i++) {
            int place = function == 0 ? i : done[i];
            if (place < plain)
                plain_left--;
            else if (sides[place - plain].is_active)
                note_side_done(&sides[place - plain], &statuses[i]);
        }
    }
    for (int m = 0; m < message_count; m++) {
        sends[m] = MPI_REQUEST_NULL;
        free(sent_data[m]);
        sent_data[m] = NULL;
    }
    forget_rounds_of_pairs();
}

static void run_round(void) {
    draw_round();
    draw_rounds_of_pairs();
    memset(is_withdrawn, 0, sizeof is_withdrawn);
    messages_run += message_count;
    for (int p = 0; p < pair_count; p++)
        partitions_run += rounds_of_pair[p];
    int late = next(&dice, 2);
    if (!late)
        take_turns();
    run_freely();
    if (late)
        take_turns();
    agree_on_withdrawn();
    end_pending();
    receive_all_left();
    complete_sends();
    judge(capacities);
    forget_receives();
    OK(MPI_Barrier(aside));
}

static void run_case(int which) {
    alarm(LIMIT_S);
    dice.state = mix(seed + mix((uint64_t)which));
    own_dice.state = mix(dice.state + (uint64_t)rank);
    message_count = 0;
    draw_slots();
    draw_pairs();
    make_send_slots();
    make_receive_slots();
    make_sides();
    int rounds = 1 + next(&dice, MOST_ROUNDS);
    for (int round = 0; round < rounds; round++) {
        snprintf(case_name, sizeof case_name, "pt2pt_model --seed %llu --case %d on %d ranks, round %d",
                 (unsigned long long)seed, which, size, round);
        run_round();
    }
    free_send_slots();
    free_receive_slots();
    free_sides();
}

int main(int argc, char **argv) {
    begin_jobs(&argc, &argv);
    signal(SIGALRM, hangs);
    CHECK(size <= MOST_RANKS, "at most %d ranks", MOST_RANKS);
    seed = (uint64_t)number_after(argc, argv, "--seed", 1);
    int first = number_after(argc, argv, "--case", 0);
    int count = number_after(argc, argv, "--cases", number_after(argc, argv, "--case", -1) < 0 ? 300 : 1);
    void *attached = malloc(ATTACHED_BYTES);
    OK(MPI_Buffer_attach(attached, ATTACHED_BYTES));
    for (int m = 0; m < MOST_MESSAGES; m++)
        sends[m] = MPI_REQUEST_NULL;
    for (int which = first; which < first + count; which++) {
        if (which == first || which % EPOCH == 0) {
            if (which > first)
                free_comms();
            make_comms(mix(seed) + (uint64_t)(which / EPOCH));
        }
        run_case(which);
    }
    alarm(0);
    free_comms();
    OK(MPI_Buffer_detach(&attached, &count));
    free(attached);
    if (rank == 0)
        printf("%ld messages, %ld partitioned\n", messages_run, partitions_run);
    return end_jobs();
}
