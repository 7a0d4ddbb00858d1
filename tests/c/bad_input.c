/* Every argument of every function, wrong in every way that its kind allows, gives the class of error that the
   standard names, with a text that names function, argument and value, through the right error handler, once; and
   changes nothing. The cases are made from spec/ by tests/src/bad_input. `bad_input NAME` runs those of the
   function or of the chapters that contain NAME. MPI-5.0: MPI Environmental Management, Error Handling. */
#include "bad_input.h"
#include <ctype.h>
#include <signal.h>
#include <unistd.h>

enum { ROOMS = 16, ROOM_BYTES = 2048 };

/* All that pointer arguments point at. */
static _Alignas(64) unsigned char memory[ROOMS * ROOM_BYTES], before[sizeof memory];

struct function {
    const char *name, *chapter;
    const char *via; /* the communicator argument whose handler hears of errors */
    void (*try)(void);
};

/* The case at hand. */
static struct {
    const struct function *function;
    const char *place, *value;
    intptr_t number;
    MPI_Comm comm; /* whose handler hears of errors */
    char state[1024];
} now;
static int cases, failures;

static void *room(int index) {
    return memset(memory + index * ROOM_BYTES, 0xa5, ROOM_BYTES);
}

#define FILL(array, type, ...) memcpy(array, (type[]){__VA_ARGS__}, sizeof(type[]){__VA_ARGS__})

/* Errors of the function go to the handler of this communicator. */
#define VIA(communicator) now.comm = communicator

/* The call must succeed. */
#define VALID() valid(CALL)

/* With the value in its place the call must give the class; afterwards the old value is back. */
#define WRONG(where, what, class)                                                                   \
    do {                                                                                            \
        __typeof__(where) kept_ = where;                                                            \
        where = what;                                                                               \
        begin_case(#where, #what, (intptr_t)where);                                                 \
        end_case(CALL, class, #class);                                                              \
        where = kept_;                                                                              \
    } while (0)

static void fail(const char *expected, const char *found) {
    fprintf(stderr, "rank %d: %s, %s = %s: expected %s, got %s\n", rank, now.function->name, now.place, now.value,
            expected, found);
    failures++;
}

static void valid(int code) {
    now.place = "the arguments", now.value = "valid";
    if (code != MPI_SUCCESS)
        fail("success", text_of(code));
}

static void begin_case(const char *place, const char *value, intptr_t number) {
    now.place = place, now.value = value, now.number = number;
    cases++;
    heard = 0;
    memcpy(before, memory, sizeof memory);
}

static int is_in_name(char character) {
    return isalnum(character) || character == '_';
}

/* Whether the text names the argument, as a word: the place without what C needs to reach it. */
static int names_argument(const char *text) {
    char name[64];
    snprintf(name, sizeof name, "%s", now.place + strspn(now.place, "*"));
    name[strcspn(name, "[")] = 0;
    /* MPI_Attr_get and alike are MPI_Comm_get_attr and alike under their first names. */
    if (!strcmp(name, "keyval"))
        snprintf(name, sizeof name, "comm_keyval");
    for (const char *found = text; (found = strstr(found, name)); found++)
        if (!is_in_name(found[-1]) && !is_in_name(found[strlen(name)]))
            return 1;
    return 0;
}

/* Whether the text names the value in one of the ways to write it. */
static int names_value(const char *text) {
    char decimal[32], hexadecimal[32], unquoted[256];
    if (now.number == (intptr_t)a_long_string)
        return strstr(text, "4095") != NULL;
    if (!strcmp(now.value, "\"\"") && strstr(text, "empty"))
        return 1;
    /* Of a communicator that is one, what it should be is told instead. */
    if (heard_on == (MPI_Comm)now.number)
        return 1;
    /* A text, quoted or not. */
    if (strlen(now.value) > 2 && now.value[0] == '"') {
        snprintf(unquoted, sizeof unquoted, "%s", now.value + 1);
        unquoted[strlen(unquoted) - 1] = 0;
        if (strstr(text, unquoted))
            return 1;
    }
    snprintf(decimal, sizeof decimal, "%lld", (long long)now.number);
    snprintf(hexadecimal, sizeof hexadecimal, "%#llx", (long long)now.number);
    return strstr(text, now.value) || strstr(text, decimal) || strstr(text, hexadecimal) ||
           (now.number == 0 && strstr(text, "null"));
}

/* Whether the error handler of the right communicator was called: if the argument is none, that of MPI_COMM_SELF. */
static int is_heard_right(void) {
    if (strcmp(now.place, now.function->via))
        return heard_on == now.comm;
    return heard_on == MPI_COMM_SELF || heard_on == (MPI_Comm)now.number;
}

static void end_case(int code, int class, const char *class_name) {
    const char *text = text_of(code);
    if (code == MPI_SUCCESS)
        return fail(class_name, "success");
    if (class_of(code) != class)
        return fail(class_name, text);
    if (memcmp(before, memory, sizeof memory))
        fail("no change", "changed memory");
    if (heard != 1)
        fail("one call of an error handler", heard ? "several" : "none");
    if (*now.function->via && !is_heard_right())
        fail("a call of the handler of another communicator", "this one");
    /* What comes before that is the text of the class. */
    const char *sentence = strstr(text, now.function->name);
    if (!sentence)
        return fail("a text with the function's name", text);
    sentence += strlen(now.function->name);
    if (!names_argument(sentence))
        fail("a text with the argument's name", text);
    if (!names_value(sentence))
        fail("a text with the value", text);
    if (strcmp(now.state, state())) {
        fail(now.state, state());
        snprintf(now.state, sizeof now.state, "%s", state());
    }
}

#include "bad_input_cases.h"

/* Says in which case the program ends. */
static void on_signal(int signal) {
    fprintf(stderr, "rank %d: %s, %s = %s: signal %d\n", rank, now.function->name, now.place, now.value, signal);
    _exit(1);
}

int main(int argc, char **argv) {
    int all_failures;
    MPI_Comm parent;
    begin(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        if (argc > 1 && !strcmp(argv[1], "--partner"))
            be_partner(parent);
        OK(MPI_Comm_disconnect(&parent));
        MPI_Finalize();
        return 0;
    }
    program = argv[0];
    make_objects();
    for (int index = 0; index < 3; index++)
        signal((int[]){SIGABRT, SIGSEGV, SIGTERM}[index], on_signal);
    snprintf(now.state, sizeof now.state, "%s", state());
    for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
        now.function = &functions[index];
        if (argc < 2 || !strcmp(now.function->name, argv[1]) || strstr(now.function->chapter, argv[1]))
            now.function->try();
    }
    end_partner();
    free_objects();
    OK(MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(all_failures == 0, "%d failures in %d cases", failures, cases);
    return end();
}
