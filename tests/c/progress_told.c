/* What a completed call has told another rank reaches it though the program calls MPI no more before that has answered
   otherwise: be it the first that the two tell each other, or more than may be under way. And such calls end though who
   is told something is out of MPI. MPI-5.0: MPI Terms and Conventions, Progress. */
#include "check.h"

#include <unistd.h>

enum { ROUNDS = 4, MANY = 24, LONG = 6000 };

static const char *folder;
static int round_number;
static char data[LONG];
static MPI_Request seen[MANY];
static int seen_count;

/* A place that all ranks see and that no call of MPI is needed for. */
static const char *mark_of(int of, const char *what) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s-%d-%d", folder, what, round_number, of);
    return path;
}

static void mark(const char *what) {
    FILE *file = fopen(mark_of(rank, what), "w");
    CHECK(file != NULL, "%s", mark_of(rank, what));
    fclose(file);
}

static void wait_for_mark(int of, const char *what) {
    while (access(mark_of(of, what), F_OK) != 0)
        usleep(100);
}

static void receive(int count, int bytes, int source) {
    for (int i = 0; i < count; i++) {
        OK(MPI_Recv(data, bytes, MPI_CHAR, source, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(data[0], i);
        EQUAL(data[bytes - 1], i);
    }
}

/* Until it is seen that this is over. What is only seen is completed when it was heard. */
static void look_at(MPI_Request *request, const char *how) {
    int flag = 0, index, count;
    while (!flag) {
        if (strcmp(how, "test") == 0)
            OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
        else if (strcmp(how, "status") == 0)
            OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
        else if (strcmp(how, "status_any") == 0)
            OK(MPI_Request_get_status_any(1, request, &index, &flag, MPI_STATUS_IGNORE));
        else {
            OK(MPI_Request_get_status_some(1, request, &count, &index, MPI_STATUSES_IGNORE));
            flag = count == 1;
        }
    }
    if (*request != MPI_REQUEST_NULL)
        seen[seen_count++] = *request;
}

/* Rank 0 tells the others something by calls that are over when this returns. */
static void tell(const char *how) {
    MPI_Request request;
    int bytes = strstr(how, "long") != NULL ? LONG : 8, count = strstr(how, "many") != NULL ? MANY : 1;
    int is_begun = strstr("wait test free status status_any status_some", how) != NULL;
    if (strcmp(how, "bcast") == 0) {
        OK(MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD));
        return;
    }
    for (int to = 1; to < size; to++)
        for (int i = 0; i < count; i++) {
            memset(data, i, bytes);
            if (strncmp(how, "bsend", 5) == 0)
                OK(MPI_Bsend(data, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD));
            else if (is_begun) {
                OK(MPI_Isend(data, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD, &request));
                if (strcmp(how, "wait") == 0)
                    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                else if (strcmp(how, "free") == 0)
                    OK(MPI_Request_free(&request));
                else
                    look_at(&request, how);
            } else
                OK(MPI_Send(data, bytes, MPI_CHAR, to, i, MPI_COMM_WORLD));
        }
}

static void hear(const char *how) {
    int bytes = strstr(how, "long") != NULL ? LONG : 8, count = strstr(how, "many") != NULL ? MANY : 1;
    if (strcmp(how, "bcast") == 0)
        OK(MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD));
    else
        receive(count, bytes, 0);
}

/* Those who are told are out of MPI until that is over, and then who has told it is, until they have heard it. */
static void told(const char *how) {
    if (rank == 0) {
        tell(how);
        mark("told");
        for (int other = 1; other < size; other++)
            wait_for_mark(other, "heard");
        OK(MPI_Waitall(seen_count, seen, MPI_STATUSES_IGNORE));
        seen_count = 0;
    } else {
        if (strcmp(how, "bcast") != 0)
            wait_for_mark(0, "told");
        hear(how);
        mark("heard");
    }
}

/* A synchronous send is over when its receiver has told so, in a call that is over. */
static void answered(void) {
    if (rank == 0)
        for (int other = 1; other < size; other++) {
            receive(1, 8, other);
            wait_for_mark(other, "answered");
        }
    else {
        memset(data, 0, sizeof data);
        OK(MPI_Ssend(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
        mark("answered");
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    CHECK(argc == 3, "%s FOLDER HOW", argv[0]);
    folder = argv[1];
    int bytes = size * MANY * (LONG + MPI_BSEND_OVERHEAD);
    void *attached = malloc(bytes);
    OK(MPI_Buffer_attach(attached, bytes));
    /* Before the first round nothing was told. */
    for (round_number = 0; round_number < ROUNDS; round_number++)
        if (strcmp(argv[2], "answer") == 0)
            answered();
        else
            told(argv[2]);
    OK(MPI_Buffer_detach(&attached, &bytes));
    free(attached);
    return end();
}
