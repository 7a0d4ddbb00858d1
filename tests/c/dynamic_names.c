/* Published names: `dynamic_names NAME [CASE]`. Names end with the job that has published them.
   MPI-5.0: Process Initialization, Creation, and Management, Name Publishing. */
#include "spawned.h"

static char name[256], found[MPI_MAX_PORT_NAME];

static const char *of_rank(int r) {
    static char text[300];
    snprintf(text, sizeof text, "%s/%d \303\274", name, r);
    return text;
}

/* Any string can be published; the longest port is as long as a port can be. */
static void publish_and_find(void) {
    char longest[MPI_MAX_PORT_NAME], long_name[3000];
    memset(longest, 'p', sizeof longest);
    longest[sizeof longest - 1] = 0;
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    memcpy(long_name, name, strlen(name));
    OK(MPI_Publish_name(of_rank(rank), MPI_INFO_NULL, rank == 0 ? longest : name));
    GIVES(MPI_ERR_SERVICE, MPI_Publish_name(of_rank(rank), MPI_INFO_NULL, "twice"));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int r = 0; r < size; r++) {
        GIVES(MPI_ERR_SERVICE, MPI_Publish_name(of_rank(r), MPI_INFO_NULL, "by another rank"));
        OK(MPI_Lookup_name(of_rank(r), MPI_INFO_NULL, found));
        CHECK(strcmp(found, r == 0 ? longest : name) == 0, "it is '%s'", found);
    }
    if (rank == 0) {
        OK(MPI_Publish_name(long_name, MPI_INFO_NULL, ""));
        OK(MPI_Lookup_name(long_name, MPI_INFO_NULL, found));
        CHECK(found[0] == 0, "it is '%s'", found);
        long_name[sizeof long_name - 2] = 'm';
        GIVES(MPI_ERR_NAME, MPI_Lookup_name(long_name, MPI_INFO_NULL, found));
    }
    strcpy(found, "as it was");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Unpublish_name(of_rank(rank), MPI_INFO_NULL, name));
    GIVES(MPI_ERR_SERVICE, MPI_Unpublish_name(of_rank(rank), MPI_INFO_NULL, name));
    GIVES(MPI_ERR_SERVICE, MPI_Unpublish_name("never published", MPI_INFO_NULL, name));
    GIVES(MPI_ERR_NAME, MPI_Lookup_name(of_rank(rank), MPI_INFO_NULL, found));
    CHECK(strcmp(found, "as it was") == 0, "it is '%s'", found);
    OK(MPI_Publish_name(of_rank(rank), MPI_INFO_NULL, "again"));
    OK(MPI_Unpublish_name(of_rank(rank), MPI_INFO_NULL, "again"));
}

/* A child publishes a name, and leaves it. */
static void look_up_of_child(char *program) {
    char *arguments[] = {name, NULL};
    MPI_Comm inter;
    OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Barrier(inter));
    OK(MPI_Lookup_name(of_rank(1000), MPI_INFO_NULL, found));
    CHECK(strcmp(found, "a child's") == 0, "it is '%s'", found);
    GIVES(MPI_ERR_SERVICE, MPI_Unpublish_name(of_rank(1000), MPI_INFO_NULL, found));
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_disconnect(&inter));
    while (class_of(MPI_Lookup_name(of_rank(1000), MPI_INFO_NULL, found)) == MPI_SUCCESS)
        ;
}

int main(int argc, char **argv) {
    begin_role(&argc, &argv, MPI_THREAD_SINGLE);
    snprintf(name, sizeof name, "%s", argv[1]);
    if (parent != MPI_COMM_NULL) {
        if (rank == 1)
            OK(MPI_Publish_name(of_rank(1000), MPI_INFO_NULL, "a child's"));
        OK(MPI_Barrier(parent));
        OK(MPI_Barrier(parent));
        return leave_parent();
    }
    if (argc == 2) {
        publish_and_find();
        look_up_of_child(argv[0]);
    } else if (strcmp(argv[2], "leave") == 0 && rank == 0)
        OK(MPI_Publish_name(name, MPI_INFO_NULL, "left"));
    else if (strcmp(argv[2], "missing") == 0)
        GIVES(MPI_ERR_NAME, MPI_Lookup_name(name, MPI_INFO_NULL, found));
    return end();
}
