/* Every collective in every lifetime and width on every kind of communicator, with random datatypes, counts, roots,
   operations and skews, against what a program computes alone.
   MPI-5.0: Collective Communication, Nonblocking and Persistent Collective Operations, Neighborhood Collective
   Communication on Process Topologies.

   A case is one cell of the matrix and up to three others beside it, under way at once. `--seed S --case N` runs one
   alone, on as many ranks as it failed on; `--cases M` runs M from there on, `--at-once 1` no others beside it,
   `--allocated 1` in memory of MPI_Alloc_mem, if that is where it failed. Another library runs all cells with a last
   argument `--foreign`. */
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "matrix/data.h"

/* Communicators are made anew after EPOCH cases. A case that takes LIMIT_S seconds hangs. */
enum { EPOCH = 40, MOST_AT_ONCE = 4, LIMIT_S = 40, MOST_BYTES = 1 << 20 };

#define CELL(operation, lifetime, width, is_built, name, arguments)                                 \
    static int call_##name(const Arguments *it, MPI_Request *request) {                             \
        (void)request;                                                                              \
        (void)it;                                                                                   \
        return name arguments;                                                                      \
    }
#include "matrix/cells.h"

#define CELL(operation, lifetime, width, is_built, name, arguments)                                 \
    {operation, lifetime, width, is_built, #name, call_##name},
static const Cell cells[] = {
#include "matrix/cells.h"
};

/* A cell on a kind of communicator. */
typedef struct { const Cell *cell; Kind kind; } Place;

enum { CELLS = sizeof cells / sizeof *cells };

static Place places[CELLS * 3];
static int place_count;

static uint64_t seed;
static int at_once;
static Operation operations[MOST_AT_ONCE];
static int operation_count;
static long operations_run;

/* Drawn alike on all ranks, and differently on each. */
static Random dice, own_dice;

static char case_name[128];

static void describe_case(void) {
    fprintf(stderr, "%s\n", case_name);
}

/* As OK, and says which case this is. */
static void must(int code, const Operation *it, const char *what) {
    if (code == MPI_SUCCESS)
        return;
    describe_case();
    if (it != NULL)
        describe(it);
    CHECK(0, "%s gave '%s'", what, text_of(code));
}

static void hangs(int signal) {
    (void)signal;
    static const char text[] = " has not ended\n";
    (void)!write(2, case_name, strlen(case_name));
    (void)!write(2, text, sizeof text - 1);
    _exit(3);
}

/* Lets other ranks get ahead. */
static void dawdle(void) {
    int kind = next(&own_dice, 20);
    volatile int work = 0;
    for (int i = 0; kind > 17 && i < 20000; i++)
        work += i;
    for (int i = 0; kind > 13 && i < kind - 12; i++)
        sched_yield();
}

static int fits(const Cell *cell, Kind kind) {
    const Facts *fact = &facts[cell->operation];
    if (fact->is_neighborhood)
        return kind > INTER;
    return kind == INTRA || (kind == INTER && fact->has_inter && size > 1);
}

static void list_places(void) {
    for (int c = 0; c < CELLS; c++) {
        if (!cells[c].is_built && !is_foreign) {
            if (rank == 0)
                printf("not built: %s\n", cells[c].name);
            continue;
        }
        for (Kind kind = INTRA; kind < KINDS_OF_COMM; kind++)
            if (fits(&cells[c], kind))
                places[place_count++] = (Place){&cells[c], kind};
    }
}

static const Comm *choose_comm(Kind kind) {
    const Comm *found[MOST_COMMS];
    int count = 0;
    for (int i = 0; i < comm_count; i++)
        if (comms[i].kind == kind)
            found[count++] = &comms[i];
    return found[next(&dice, count)];
}

/* Mostly short blocks, seldom such that all of a rank's together have MOST_BYTES; but what is read where it lies is
   longer than a page. */
static int choose_longest(const Operation *it) {
    int kind = next(&dice, 100);
    if (is_allocated && kind < 90)
        return kind < 20 ? 100 : kind < 60 ? 1000 : 5000;
    if (kind < 98)
        return kind < 60 ? 8 : kind < 90 ? 100 : 1000;
    Name name = it->cell->operation;
    int is_one = styles[name].send == ONE && styles[name].recv == ONE && name != REDUCE_SCATTER_BLOCK;
    return MOST_BYTES / element_bytes(it->signature) / it->unit / (is_one ? 1 : MOST_RANKS);
}

/* What all ranks know alike, members or not. */
static void choose(Operation *it, const Place *place) {
    static const int units[] = {1, 1, 2, 4, 6, 12, 12, 12};
    const Facts *fact = &facts[place->cell->operation];
    *it = (Operation){.cell = place->cell, .comm = choose_comm(place->kind), .request = MPI_REQUEST_NULL};
    it->key = mix(dice.state);
    it->unit = units[next(&dice, 8)];
    it->rounds = place->cell->lifetime != PERSISTENT ? 1 + next(&dice, 3) / 2 : next(&dice, 8) ? 3 : 0;
    it->in_place = fact->has_in_place && place->kind == INTRA && next(&dice, 3) == 0;
    it->signature = (Signature)next(&dice, SIGNATURES);
    if (fact->is_reduction) {
        it->reduction = &reductions[next(&dice, reduction_count)];
        if (next(&dice, 3) == 0)
            it->reduction = &reductions[reduction_count - 1 - next(&dice, 6)];
        it->signature = it->reduction->signature;
    }
    it->longest = choose_longest(it);
    int root = next(&dice, 1000), group = next(&dice, 2);
    if (it->comm->comm == MPI_COMM_NULL)
        return;
    it->root_group = place->kind == INTER ? group : 0;
    it->root = root % it->comm->sizes[it->root_group];
    plan(it);
    choose_layouts(it);
    lay_out(&it->send, &own_dice);
    lay_out(&it->recv, &own_dice);
    set_arguments(it);
}

/* Between rounds of what is not persistent, buffers may move. */
static void move(Side *side) {
    MPI_Aint origin = side->origin - side->memory;
    char *moved = take_memory(side->bytes);
    give_memory(side->memory);
    side->memory = moved;
    side->origin = moved + origin;
}

static void prepare(Operation *it, int round) {
    if (round > 0 && it->cell->lifetime != PERSISTENT && next(&own_dice, 2)) {
        move(&it->send);
        move(&it->recv);
        set_arguments(it);
    }
    fill(it, &it->send, round);
    fill(it, &it->recv, round);
}

static void conclude(const Operation *it, int round) {
    verify(it, &it->send, round);
    verify(it, &it->recv, round);
    operations_run++;
}

/* Now and then wishes for the plan of a persistent operation: the same on all ranks, or each rank's own. */
static MPI_Info any_wish(const Operation *it) {
    static const char *const wishes[] = {"measure", "estimate", "binomial", "node-flat", "lines", "messages"};
    enum { WISHES = sizeof wishes / sizeof *wishes };
    static MPI_Info infos[WISHES];
    uint64_t drawn = mix(it->key) % (6 * WISHES);
    if (drawn >= WISHES && drawn < 2 * WISHES)
        drawn = (uint64_t)next(&own_dice, WISHES + 2);
    if (drawn >= WISHES)
        return MPI_INFO_NULL;
    if (infos[drawn] == 0) {
        must(MPI_Info_create(&infos[drawn]), NULL, "MPI_Info_create");
        must(MPI_Info_set(infos[drawn], "oxmpi_plan", wishes[drawn]), NULL, "MPI_Info_set");
    }
    return infos[drawn];
}

/* The functions of the lifetime: a persistent operation is made in the first round. */
static void call(Operation *it, int round) {
    if (it->cell->lifetime == PERSISTENT && round > 0)
        return;
    dawdle();
    if (it->cell->lifetime == PERSISTENT)
        it->arguments.info = any_wish(it);
    must(it->cell->call(&it->arguments, &it->request), it, "the call");
    if (it->cell->lifetime == BLOCKING)
        conclude(it, round);
}

static int is_member(const Operation *it) {
    return it->comm->comm != MPI_COMM_NULL;
}

static int takes_part(const Operation *it, int round) {
    return is_member(it) && round < it->rounds;
}

/* Persistent operations, in an order of this rank's own. */
static void start_all(int round) {
    MPI_Request requests[MOST_AT_ONCE];
    int order[MOST_AT_ONCE], which[MOST_AT_ONCE], count = 0;
    shuffle(&own_dice, order, operation_count);
    for (int i = 0; i < operation_count; i++) {
        Operation *it = &operations[order[i]];
        if (takes_part(it, round) && it->cell->lifetime == PERSISTENT) {
            which[count] = order[i];
            requests[count++] = it->request;
        }
    }
    if (next(&own_dice, 2)) {
        must(MPI_Startall(count, requests), NULL, "MPI_Startall");
    } else {
        for (int i = 0; i < count; i++) {
            must(MPI_Start(&requests[i]), NULL, "MPI_Start");
            dawdle();
        }
    }
    for (int i = 0; i < count; i++)
        operations[which[i]].request = requests[i];
}

/* How many of these requests completed at once, and which; by one of the functions for several. */
static int complete_some(int way, MPI_Request *requests, int *which) {
    int count = 0, flag = 1;
    switch (way) {
    case 2:
        must(MPI_Waitany(operation_count, requests, which, MPI_STATUS_IGNORE), NULL, "MPI_Waitany");
        return *which == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    case 3:
        must(MPI_Testany(operation_count, requests, which, &flag, MPI_STATUS_IGNORE), NULL, "MPI_Testany");
        return !flag ? 0 : *which == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    case 4:
        must(MPI_Waitsome(operation_count, requests, &count, which, MPI_STATUSES_IGNORE), NULL, "MPI_Waitsome");
        return count;
    case 5:
        must(MPI_Testsome(operation_count, requests, &count, which, MPI_STATUSES_IGNORE), NULL, "MPI_Testsome");
        return count;
    case 6:
        must(MPI_Waitall(operation_count, requests, MPI_STATUSES_IGNORE), NULL, "MPI_Waitall");
        break;
    default:
        must(MPI_Testall(operation_count, requests, &flag, MPI_STATUSES_IGNORE), NULL, "MPI_Testall");
    }
    for (int i = 0; flag && i < operation_count; i++)
        which[i] = i;
    return flag ? operation_count : 0;
}

/* One after the other, in an order of this rank's own. */
static void complete_each(MPI_Request *requests, const int *active, int round) {
    int order[MOST_AT_ONCE];
    shuffle(&own_dice, order, operation_count);
    for (int i = 0; i < operation_count; i++) {
        int which = order[i], done = 0;
        if (next(&own_dice, 2))
            must(MPI_Wait(&requests[which], MPI_STATUS_IGNORE), &operations[which], "MPI_Wait");
        else
            while (!done) {
                must(MPI_Test(&requests[which], &done, MPI_STATUS_IGNORE), &operations[which], "MPI_Test");
                dawdle();
            }
        if (active[which])
            conclude(&operations[which], round);
    }
}

/* Every completed operation is checked while the others go on. */
static void complete_all(int round) {
    MPI_Request requests[MOST_AT_ONCE];
    int active[MOST_AT_ONCE], which[MOST_AT_ONCE], left = 0, way = next(&own_dice, is_foreign ? 7 : 8);
    for (int i = 0; i < operation_count; i++) {
        const Operation *it = &operations[i];
        requests[i] = it->request;
        active[i] = takes_part(it, round) && it->cell->lifetime != BLOCKING;
        left += active[i];
    }
    if (way < 2) {
        complete_each(requests, active, round);
        left = 0;
    }
    while (left > 0) {
        int count = complete_some(way, requests, which);
        CHECK(count != MPI_UNDEFINED, "%d operations are active: %s", left, case_name);
        for (int i = 0; i < count; i++)
            if (active[which[i]]) {
                active[which[i]] = 0;
                left--;
                conclude(&operations[which[i]], round);
            }
        dawdle();
    }
    for (int i = 0; i < operation_count; i++) {
        Operation *it = &operations[i];
        it->request = requests[i];
        CHECK((it->request != MPI_REQUEST_NULL) == (it->cell->lifetime == PERSISTENT && is_member(it)),
              "only persistent requests stay: %s", case_name);
    }
}

/* Blocking operations come before what is started or, `late`, while it is under way. */
static void run_round(int round, int late) {
    for (int i = 0; i < operation_count; i++) {
        Operation *it = &operations[i];
        /* What is never started is made all the same. */
        if (!takes_part(it, round) && !(is_member(it) && round == 0))
            continue;
        prepare(it, round);
        if (!late || it->cell->lifetime != BLOCKING)
            call(it, round);
    }
    start_all(round);
    for (int i = 0; i < operation_count; i++)
        if (late && takes_part(&operations[i], round) && operations[i].cell->lifetime == BLOCKING)
            call(&operations[i], round);
    complete_all(round);
}

static void run_case(int which) {
    snprintf(case_name, sizeof case_name, "matrix --seed %llu --case %d --at-once %d on %d ranks",
             (unsigned long long)seed, which, at_once, size);
    alarm(LIMIT_S);
    dice.state = mix(seed + mix((uint64_t)which));
    own_dice.state = mix(dice.state + (uint64_t)rank);
    operation_count = 1 + next(&dice, at_once);
    int late = next(&dice, 2), first = next(&dice, operation_count);
    for (int i = 0; i < operation_count; i++)
        choose(&operations[i], &places[(i == first ? which : next(&dice, place_count)) % place_count]);
    for (int round = 0; round < 3; round++)
        run_round(round, late);
    for (int i = 0; i < operation_count; i++) {
        if (operations[i].request != MPI_REQUEST_NULL)
            must(MPI_Request_free(&operations[i].request), &operations[i], "MPI_Request_free");
        give_memory(operations[i].send.memory);
        give_memory(operations[i].recv.memory);
    }
}

static int option(int argc, char **argv, const char *name, int otherwise) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return i + 1 < argc ? atoi(argv[i + 1]) : otherwise;
    return otherwise;
}

int main(int argc, char **argv) {
    begin_jobs(&argc, &argv);
    signal(SIGALRM, hangs);
    is_foreign = strcmp(argv[argc - 1], "--foreign") == 0;
    seed = (uint64_t)option(argc, argv, "--seed", 1);
    is_allocated = option(argc, argv, "--allocated", 0);
    at_once = option(argc, argv, "--at-once", MOST_AT_ONCE);
    int first = option(argc, argv, "--case", 0);
    int count = option(argc, argv, "--cases", option(argc, argv, "--case", -1) < 0 ? 300 : 1);
    make_layouts();
    make_reductions();
    list_places();
    for (int which = first; which < first + count; which++) {
        if (which == first || which % EPOCH == 0) {
            free_comms();
            make_comms(seed, which / EPOCH);
        }
        run_case(which);
    }
    alarm(0);
    free_comms();
    free_reductions();
    free_layouts();
    if (rank == 0)
        printf("%d cells, %d cases of %ld operations\n", place_count, count, operations_run);
    return end_jobs();
}
