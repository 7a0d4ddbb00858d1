/* Spawning: arguments, error codes, roots, parts of the world, ranks that each spawn at the same time, and spawned
   processes that spawn. MPI-5.0: Process Initialization, Creation, and Management, Process Manager Interface. */
#include "spawned.h"

static char *program;

static char *awkward[] = {"--as", "words", "", "two words", "\"quoted\" '$HOME' *", "--np", "t\303\251", NULL};

/* Spawns `count` processes of this program from rank `root` of `comm`; what counts at the root only is wrong elsewhere. */
static MPI_Comm spawn(const char *as, int count, int root, MPI_Comm comm) {
    MPI_Comm inter;
    char *arguments[] = {"--as", (char *)as, NULL};
    int own, own_size, codes[16];
    memset(codes, 255, sizeof codes);
    OK(MPI_Comm_rank(comm, &own));
    OK(MPI_Comm_size(comm, &own_size));
    if (own == root)
        OK(MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, root, comm, &inter, codes));
    else
        OK(MPI_Comm_spawn(NULL, (char **)-1, -5, (MPI_Info)-1, root, comm, &inter, codes));
    for (int i = 0; i < count; i++)
        EQUAL(codes[i], MPI_SUCCESS);
    EQUAL(codes[count], -1);
    check_sizes(inter, own_size, count);
    return inter;
}

static void check_parent(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length, again, sizes[2], *universe, *number, flag;
    MPI_Comm same;
    OK(MPI_Comm_get_name(parent, name, &length));
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0, "it is called %s", name);
    OK(MPI_Comm_get_parent(&same));
    CHECK(same == parent, "the parent stays the same");
    OK(MPI_Comm_rank(parent, &again));
    EQUAL(again, rank);
    OK(MPI_Comm_size(parent, &sizes[0]));
    EQUAL(sizes[0], size);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(!flag || *number == 0, "a job of one program has number 0");
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
    CHECK(!flag || *universe > 0, "a universe has processes");
}

/* A child, by its role. */
static int child(int argc, char **argv) {
    check_parent();
    if (is_role("words")) {
        EQUAL(argc, sizeof awkward / sizeof *awkward);
        for (int i = 1; i < argc; i++)
            CHECK(strcmp(argv[i], awkward[i - 1]) == 0, "argument %d is '%s'", i, argv[i]);
    } else if (role == NULL)
        EQUAL(argc, 1);
    greet_all(parent, size);
    if (is_role("again")) {
        for (int root = 0; root < size; root++) {
            MPI_Comm inter = spawn("plain", 2, root, MPI_COMM_WORLD);
            greet_all(inter, root);
            OK(MPI_Comm_disconnect(&inter));
        }
        /* All of two jobs spawn a third together. */
        MPI_Comm merged, inter;
        OK(MPI_Intercomm_merge(parent, 1, &merged));
        OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
        OK(MPI_Comm_size(merged, &size));
        inter = spawn("plain", 2, size - 1, merged);
        greet_all(inter, 1);
        OK(MPI_Comm_disconnect(&inter));
        OK(MPI_Comm_disconnect(&merged));
    }
    if (is_role("leave")) {
        OK(MPI_Comm_free(&parent));
        MPI_Finalize();
        return 0;
    }
    if (is_role("stay")) {
        MPI_Finalize();
        return 0;
    }
    return leave_parent();
}

int main(int argc, char **argv) {
    MPI_Comm inter, part;
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    program = argv[0];
    if (parent != MPI_COMM_NULL)
        return child(argc, argv);

    /* Arguments come as they are; none, with MPI_ARGV_NULL; and nobody need ask for error codes. */
    OK(MPI_Comm_spawn(program, awkward, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    check_sizes(inter, size, 3);
    greet_all(inter, 7);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    greet_all(inter, 8);
    OK(MPI_Comm_disconnect(&inter));
    CHECK(inter == MPI_COMM_NULL, "it has ended");

    /* From each rank in turn; the communicator freed instead of disconnected, or not even that. */
    for (int root = 0; root < size; root++) {
        inter = spawn("leave", 1 + root % 2, root, MPI_COMM_WORLD);
        greet_all(inter, root);
        OK(MPI_Comm_free(&inter));
        inter = spawn("stay", 1, root, MPI_COMM_WORLD);
        greet_all(inter, root);
        OK(MPI_Comm_disconnect(&inter));
    }

    /* By parts of the world, and by each rank for itself, at the same time. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    inter = spawn("plain", 2, 0, part);
    greet_all(inter, 1);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Comm_free(&part));
    for (int round = 0; round < 3; round++) {
        inter = spawn("plain", 1 + rank % 2, 0, MPI_COMM_SELF);
        greet_all(inter, rank);
        OK(MPI_Comm_disconnect(&inter));
    }

    /* Several generations. */
    MPI_Comm merged;
    inter = spawn("again", 2, size - 1, MPI_COMM_WORLD);
    greet_all(inter, 2);
    OK(MPI_Intercomm_merge(inter, 0, &merged));
    OK(MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN));
    MPI_Comm third = spawn("plain", 2, size + 1, merged);
    greet_all(third, 1);
    OK(MPI_Comm_disconnect(&third));
    OK(MPI_Comm_disconnect(&merged));
    OK(MPI_Comm_disconnect(&inter));

    /* Wrong everywhere. */
    GIVES(MPI_ERR_ROOT, MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter,
                                       MPI_ERRCODES_IGNORE));
    GIVES(MPI_ERR_COMM, MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_NULL, &inter,
                                       MPI_ERRCODES_IGNORE));
    return end();
}
