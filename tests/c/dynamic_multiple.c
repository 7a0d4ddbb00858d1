/* Several programs spawned as one job: numbers, arguments, and what infos say of each.
   MPI-5.0: Process Initialization, Creation, and Management, Starting Multiple Executables and Establishing
   Communication; Reserved Keys. */
#include <unistd.h>

#include "spawned.h"

enum { PROGRAMS = 4 };

static const int counts[PROGRAMS] = {2, 1, 1, 2};

static MPI_Info info_with(const char *key, const char *value) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    return info;
}

/* Whether this kind of memory was asked for. */
static int has_kind(const char *kind) {
    MPI_Info info;
    char kinds[256] = "";
    int length = sizeof kinds, flag;
    OK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    OK(MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, kinds, &flag));
    OK(MPI_Info_free(&info));
    return strstr(kinds, kind) != NULL;
}

static int child(int argc, char **argv, MPI_Errhandler initial) {
    int *number, flag, expected = 0, before = 0;
    char dir[4096];
    while (before + counts[expected] <= rank)
        before += counts[expected++];
    EQUAL(size, 6);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(flag, "who is spawned with others has a number");
    EQUAL(*number, expected);
    EQUAL(argc, 3 + expected);
    for (int i = 3; i < argc; i++)
        EQUAL(argv[i][0], 'a' + expected);
    if (expected == 1)
        CHECK(getcwd(dir, sizeof dir) != NULL && strcmp(dir, "/") == 0, "wdir is %s", dir);
    CHECK((initial == MPI_ERRORS_RETURN) == (expected == 2), "mpi_initial_errhandler is that of one program");
    CHECK(has_kind("mpi:alloc_mem") == (expected == 3), "mpi_memory_alloc_kinds are those of one program");
    greet_all(parent, 3);
    return leave_parent();
}

int main(int argc, char **argv) {
    MPI_Errhandler initial;
    MPI_Comm inter;
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &initial));
    joined();
    role = argc > 2 ? argv[2] : NULL;
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        return child(argc, argv, initial);

    char folder[4096], *name = strrchr(argv[0], '/') + 1, here[256];
    snprintf(folder, sizeof folder, "/nowhere:%.*s", (int)(name - 1 - argv[0]), argv[0]);
    CHECK(gethostname(here, sizeof here) == 0, "the machine has a name");
    char *commands[] = {argv[0], argv[0], argv[0], name};
    char *arguments[PROGRAMS][6] = {
        {"--as", "x"}, {"--as", "x", "b"}, {"--as", "x", "cc", "c"}, {"--as", "x", "ddd", "d", "d"}};
    char **argvs[] = {arguments[0], arguments[1], arguments[2], arguments[3]};
    MPI_Info infos[] = {info_with("host", here), info_with("wdir", "/"),
                        info_with("mpi_initial_errhandler", "MPI_Errors_Return"), info_with("path", folder)};
    OK(MPI_Info_set(infos[3], "mpi_memory_alloc_kinds", "mpi:alloc_mem"));
    for (int root = 0; root < size; root++) {
        int codes[7] = {-1, -1, -1, -1, -1, -1, -1};
        if (rank == root)
            OK(MPI_Comm_spawn_multiple(PROGRAMS, commands, argvs, counts, infos, root, MPI_COMM_WORLD, &inter, codes));
        else
            OK(MPI_Comm_spawn_multiple(-1, NULL, NULL, NULL, NULL, root, MPI_COMM_WORLD, &inter, codes));
        for (int i = 0; i < 6; i++)
            EQUAL(codes[i], MPI_SUCCESS);
        EQUAL(codes[6], -1);
        check_sizes(inter, size, 6);
        greet_all(inter, root);
        OK(MPI_Comm_disconnect(&inter));
    }
    for (int i = 0; i < PROGRAMS; i++)
        OK(MPI_Info_free(&infos[i]));
    return end();
}
