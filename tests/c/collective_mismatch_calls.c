/* Ranks that call different collectives at the same time, or the same with arguments that do not fit, all get an
   error of the argument's class that names both calls: who reads what another one tells, from that call; who only
   tells, from the next one, or as many later as the first argument says. With a second one, those do who exchange
   anything with each other, when they do; one rank at least at once. Nobody hangs, and what follows works.
   MPI-5.0: Collective Communication, Introduction and Overview (arguments must match); Correctness. */
#include "check.h"

enum { LONG = 1 << 17, FORMS = 26 };

enum lifetime { BLOCKING, NONBLOCKING, PERSISTENT };

/* What is called, and how reports name it in each lifetime. */
static const struct form {
    const char *name, *arguments;
    int count, root;
    MPI_Op op;
} forms[FORMS] = {
    {"barrier", "", 0, 0, 0},
    {"bcast", " (4 bytes, root 0)", 1, 0, 0},
    {"bcast", " (8 bytes, root 0)", 2, 0, 0},
    {"bcast", " (4 bytes, root 1)", 1, 1, 0},
    {"bcast", " (0 bytes, root 0)", 0, 0, 0},
    {"bcast", " (524288 bytes, root 0)", LONG, 0, 0},
    {"allreduce", " (4 bytes in elements of 4, MPI_SUM)", 1, 0, MPI_SUM},
    {"allreduce", " (4 bytes in elements of 4, MPI_MAX)", 1, 0, MPI_MAX},
    {"allreduce", " (8 bytes in elements of 4, MPI_SUM)", 2, 0, MPI_SUM},
    {"allreduce", " (0 bytes in elements of 4, MPI_SUM)", 0, 0, MPI_SUM},
    {"allreduce", " (524288 bytes in elements of 4, MPI_SUM)", LONG, 0, MPI_SUM},
    {"reduce", " (4 bytes in elements of 4, MPI_SUM, root 0)", 1, 0, MPI_SUM},
    {"reduce", " (4 bytes in elements of 4, MPI_SUM, root 1)", 1, 1, MPI_SUM},
    {"reduce", " (524288 bytes in elements of 4, MPI_SUM, root 0)", LONG, 0, MPI_SUM},
    {"gather", " (4 bytes, root 0)", 1, 0, 0},
    {"gather", " (4 bytes, root 1)", 1, 1, 0},
    {"scatter", " (8 bytes, root 0)", 2, 0, 0},
    {"allgather", " (4 bytes)", 1, 0, 0},
    {"alltoall", " (4 bytes)", 1, 0, 0},
    {"scan", " (4 bytes in elements of 4, MPI_SUM)", 1, 0, MPI_SUM},
    {"exscan", " (4 bytes in elements of 4, MPI_SUM)", 1, 0, MPI_SUM},
    {"exscan", " (4 bytes in elements of 4, MPI_MAX)", 1, 0, MPI_MAX},
    {"reduce_scatter_block", " (4 bytes in elements of 4, MPI_SUM)", 1, 0, MPI_SUM},
    {"gatherv", " (root 0)", 1, 0, 0},
    {"scatterv", " (root 1)", 1, 1, 0},
    {"allgatherv", "", 1, 0, 0},
};

static int later = 1, only_some;
static int from[LONG], into[LONG], counts[64], places[64], uneven[64], apart[64];

#define CALL(blocking, nonblocking, ...)                                                            \
    switch (lifetime) {                                                                             \
    case BLOCKING:                                                                                  \
        return blocking(__VA_ARGS__, comm);                                                         \
    case NONBLOCKING:                                                                               \
        return nonblocking(__VA_ARGS__, comm, request);                                             \
    case PERSISTENT:                                                                                \
        return blocking##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request);                          \
    }

static int begin_form(const struct form *form, enum lifetime lifetime, MPI_Comm comm, MPI_Request *request) {
    int count = form->count, root = form->root;
    *request = MPI_REQUEST_NULL;
    if (!strcmp(form->name, "barrier"))
        switch (lifetime) {
        case BLOCKING:
            return MPI_Barrier(comm);
        case NONBLOCKING:
            return MPI_Ibarrier(comm, request);
        case PERSISTENT:
            return MPI_Barrier_init(comm, MPI_INFO_NULL, request);
        }
    if (!strcmp(form->name, "bcast"))
        CALL(MPI_Bcast, MPI_Ibcast, into, count, MPI_INT, root)
    if (!strcmp(form->name, "allreduce"))
        CALL(MPI_Allreduce, MPI_Iallreduce, from, into, count, MPI_INT, form->op)
    if (!strcmp(form->name, "reduce"))
        CALL(MPI_Reduce, MPI_Ireduce, from, into, count, MPI_INT, form->op, root)
    if (!strcmp(form->name, "gather"))
        CALL(MPI_Gather, MPI_Igather, from, count, MPI_INT, into, count, MPI_INT, root)
    if (!strcmp(form->name, "scatter"))
        CALL(MPI_Scatter, MPI_Iscatter, from, count, MPI_INT, into, count, MPI_INT, root)
    if (!strcmp(form->name, "allgather"))
        CALL(MPI_Allgather, MPI_Iallgather, from, count, MPI_INT, into, count, MPI_INT)
    if (!strcmp(form->name, "alltoall"))
        CALL(MPI_Alltoall, MPI_Ialltoall, from, count, MPI_INT, into, count, MPI_INT)
    if (!strcmp(form->name, "scan"))
        CALL(MPI_Scan, MPI_Iscan, from, into, count, MPI_INT, form->op)
    if (!strcmp(form->name, "exscan"))
        CALL(MPI_Exscan, MPI_Iexscan, from, into, count, MPI_INT, form->op)
    if (!strcmp(form->name, "reduce_scatter_block"))
        CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, from, into, count, MPI_INT, form->op)
    if (!strcmp(form->name, "gatherv"))
        CALL(MPI_Gatherv, MPI_Igatherv, from, count, MPI_INT, into, counts, places, MPI_INT, root)
    if (!strcmp(form->name, "scatterv"))
        CALL(MPI_Scatterv, MPI_Iscatterv, from, counts, places, MPI_INT, into, count, MPI_INT, root)
    /* With equal lengths it is an allgather. */
    CALL(MPI_Allgatherv, MPI_Iallgatherv, from, uneven[rank], MPI_INT, into, uneven, apart, MPI_INT)
    return MPI_ERR_INTERN;
}

/* Calls a form and completes it; what was returned first that is no success. */
static int call(const struct form *form, enum lifetime lifetime, MPI_Comm comm) {
    MPI_Request request;
    int code = begin_form(form, lifetime, comm, &request);
    if (code != MPI_SUCCESS || lifetime != NONBLOCKING)
        return code;
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void name_of(const struct form *form, enum lifetime lifetime, char *name) {
    static const char *const formats[] = {"MPI_%c%s%s", "MPI_I%c%s%s", "MPI_%c%s_init%s"};
    char first = lifetime == NONBLOCKING ? form->name[0] : form->name[0] - 'a' + 'A';
    sprintf(name, formats[lifetime], first, form->name + 1, form->arguments);
}

static int class_between(const struct form *one, const struct form *other) {
    if (strcmp(one->name, other->name))
        return MPI_ERR_OTHER;
    if (one->root != other->root)
        return MPI_ERR_ROOT;
    return one->op != other->op ? MPI_ERR_OP : MPI_ERR_TRUNCATE;
}

/* Two calls of different ranks. */
struct pair {
    const struct form *usual, *other;
    enum lifetime lifetime, its;
};

/* Whether an error is of the class of their difference, and names both. */
static int tells_of(int code, const struct pair *pair) {
    char one[128], two[128];
    int class = pair->lifetime == pair->its ? class_between(pair->usual, pair->other) : MPI_ERR_OTHER;
    name_of(pair->usual, pair->lifetime, one);
    name_of(pair->other, pair->its, two);
    return class_of(code) == class && strstr(text_of(code), one) && strstr(text_of(code), two);
}

static void check_error(int code, const struct pair *pair) {
    CHECK(tells_of(code, pair), "%s%s and %s%s gave '%s'", pair->usual->name, pair->usual->arguments,
          pair->other->name, pair->other->arguments, text_of(code));
}

/* The same, if it is one, of any of the last pairs: ranks that exchange nothing hear of theirs when they do. */
static void check_late_error(int code, const struct pair *pair) {
    enum { LATEST = 4 };
    static struct pair last[LATEST];
    static int number;
    int is_told = 0;
    last[number++ % LATEST] = *pair;
    for (int i = 0; i < LATEST && i < number; i++)
        is_told |= tells_of(code, &last[i]);
    if (code != MPI_SUCCESS && !is_told)
        check_error(code, pair);
}

/* All ranks call `usual`, but for the one that calls `other`. */
static void differ(MPI_Comm comm, int deviant, const struct form *usual, enum lifetime lifetime,
                   const struct form *other, enum lifetime its) {
    int code, error, errors, sum = 0;
    struct pair pair = {usual, other, lifetime, its};
    error = rank == deviant ? call(other, its, comm) : call(usual, lifetime, comm);
    if (lifetime == PERSISTENT) {
        check_error(error, &pair);
        return;
    }
    errors = error != MPI_SUCCESS;
    for (int i = 0; i < later; i++) {
        /* All look at all others, at once or in the next one. */
        code = MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        EQUAL(sum, size * (size - 1) / 2);
        errors += code != MPI_SUCCESS;
        error = code == MPI_SUCCESS ? error : code;
    }
    if (only_some) {
        int all = 0;
        OK(MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(all > 0, "nobody hears of %s%s and %s%s", usual->name, usual->arguments, other->name, other->arguments);
        check_late_error(errors ? error : MPI_SUCCESS, &pair);
        return;
    }
    CHECK(errors == 1, "%s%s and %s%s by rank %d gave %d errors ('%s')", usual->name, usual->arguments, other->name,
          other->arguments, deviant, errors, text_of(error));
    check_error(error, &pair);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
}

static int is_same(const struct form *one, const struct form *other) {
    return !strcmp(one->name, other->name) && !strcmp(one->arguments, other->arguments);
}

int main(int argc, char **argv) {
    MPI_Comm copy;
    int deviant = 0;
    begin(&argc, &argv);
    if (argc > 1)
        later = atoi(argv[1]);
    only_some = argc > 2;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
        uneven[i] = i ? 1 : 2;
        apart[i] = 2 * i;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int lifetime = BLOCKING; lifetime <= (only_some ? NONBLOCKING : PERSISTENT); lifetime++)
        for (int one = 0; one < FORMS; one++)
            for (int two = 0; two < FORMS; two++)
                if (!is_same(&forms[one], &forms[two]))
                    differ(copy, deviant++ % size, &forms[one], lifetime, &forms[two], lifetime);
    for (int one = 0; one < FORMS; one++)
        differ(copy, deviant++ % size, &forms[one], BLOCKING, &forms[one], NONBLOCKING);
    MPI_Comm_free(&copy);
    return end();
}
