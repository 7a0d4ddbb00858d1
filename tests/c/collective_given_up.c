/* A reduction whose call fails after its buffers were looked at leaves no memory behind: those of data with gaps have
   packed images. MPI-5.0: MPI Environmental Management, Error Handling. */
#include "check.h"

enum { COUNT = 1 << 20, CALLS = 100 };

typedef struct {
    double value;
    int at;
} pair;

/* Pages of address space. */
static long pages(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld", &pages) == 1, "there is no /proc/self/statm");
    if (file)
        fclose(file);
    return pages;
}

int main(int argc, char **argv) {
    static pair send[COUNT], receive[COUNT];
    long before = 0;
    MPI_Info info, freed;
    MPI_Request request;
    begin(&argc, &argv);
    OK(MPI_Info_create(&info));
    freed = info;
    OK(MPI_Info_free(&info));
    for (int call = 0; call <= CALLS; call++) {
        EQUAL(class_of(MPI_Allreduce_init(send, receive, COUNT, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD, freed,
                                          &request)),
              MPI_ERR_INFO);
        EQUAL(class_of(MPI_Allreduce_init(send, receive, COUNT, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD,
                                          MPI_INFO_NULL, NULL)),
              MPI_ERR_ARG);
        EQUAL(class_of(MPI_Iallreduce(send, receive, COUNT, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD, NULL)),
              MPI_ERR_ARG);
        if (call == 0)
            before = pages();
    }
    CHECK(pages() - before < (100 << 20) / 4096, "%ld pages are left behind", pages() - before);
    return end();
}
