/* Spawning what cannot be spawned: all ranks get an error, none is left, and everything goes on.
   MPI-5.0: Process Initialization, Creation, and Management, Process Manager Interface. */
#include "spawned.h"

enum { COUNT = 3 };

/* Programs that are not there, are none, or end without MPI; and what the last of several does. */
static const struct { const char *command, *words[3]; } failing[] = {
    {"/no/such/program", {NULL}},
    {"no-such-program-in-any-path", {NULL}},
    {"", {NULL}},
    {"/", {NULL}},
    {"/etc/passwd", {NULL}},
    {"/bin/true", {NULL}},
    {"/bin/false", {NULL}},
    {"/bin/sh", {"-c", "kill -9 $$", NULL}},
    {"/bin/sh", {"-c", "kill -TERM $$", NULL}},
};

enum { FAILING = sizeof failing / sizeof *failing };

static void fails(int code, int root, const int *codes) {
    CHECK(class_of(code) == MPI_ERR_SPAWN, "it gave '%s'", text_of(code));
    for (int i = 0; i < COUNT && rank == root; i++)
        CHECK(class_of(codes[i]) == MPI_ERR_SPAWN, "process %d: '%s'", i, text_of(codes[i]));
}

static void works(char *program, int root) {
    MPI_Comm inter;
    OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    greet_all(inter, root);
    OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv) {
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    if (parent != MPI_COMM_NULL) {
        greet_all(parent, 2);
        return leave_parent();
    }
    for (int which = 0; which < FAILING; which++) {
        int root = which % size, codes[COUNT] = {-1, -1, -1}, few[] = {1, 2};
        char *words[4] = {NULL}, *command = (char *)failing[which].command;
        char *commands[] = {argv[0], command}, **argvs[] = {words + 3, words};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm inter = MPI_COMM_SELF;
        memcpy(words, failing[which].words, sizeof failing[which].words);
        fails(MPI_Comm_spawn(command, words, COUNT, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), root, codes);
        CHECK(inter == MPI_COMM_SELF, "what was given is as it was");
        works(argv[0], root);
        memset(codes, 255, sizeof codes);
        /* One program is right. */
        fails(MPI_Comm_spawn_multiple(2, commands, argvs, few, infos, root, MPI_COMM_WORLD, &inter, codes), root, codes);
        class_of(MPI_Comm_spawn(command, words, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        works(argv[0], root);
    }
    MPI_Info info;
    int codes[COUNT] = {-1, -1, -1};
    MPI_Comm inter;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "wdir", "/no/such/folder"));
    fails(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, COUNT, info, 0, MPI_COMM_WORLD, &inter, codes), 0, codes);
    OK(MPI_Info_set(info, "wdir", "/"));
    OK(MPI_Info_set(info, "host", "a-machine-that-is-not-there"));
    fails(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, COUNT, info, 0, MPI_COMM_WORLD, &inter, codes), 0, codes);
    OK(MPI_Info_free(&info));
    works(argv[0], 0);
    return end();
}
