/* What every test program needs: checks that end the job, and a frame around main. */
#ifndef OXMPI_TESTS_CHECK_H
#define OXMPI_TESTS_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Ends the job with a sentence unless the condition holds. */
#define CHECK(condition, ...)                                                                       \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "%s:%d: rank %d: not so: %s: ", __FILE__, __LINE__, rank, #condition);  \
            fprintf(stderr, __VA_ARGS__);                                                           \
            fputc('\n', stderr);                                                                    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                           \
        }                                                                                           \
    } while (0)

/* Two integers are equal. */
#define EQUAL(found, expected)                                                                      \
    do {                                                                                            \
        long long found_ = (long long)(found), expected_ = (long long)(expected);                   \
        CHECK(found_ == expected_, "%s is %lld, not %lld", #found, found_, expected_);              \
    } while (0)

/* The call succeeds. */
#define OK(call) GIVES(MPI_SUCCESS, call)

/* The call returns an error of this class. */
#define GIVES(class, call)                                                                          \
    do {                                                                                            \
        int code_ = (call);                                                                         \
        CHECK(class_of(code_) == (class), "%s gave '%s'", #call, text_of(code_));                   \
    } while (0)

static inline int class_of(int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static inline const char *text_of(int code) {
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    return text;
}

/* What the status of a receive says. */
static inline void check_status(const MPI_Status *status, int source, int tag, MPI_Datatype type, int count) {
    int found;
    OK(MPI_Get_count(status, type, &found));
    EQUAL(status->MPI_SOURCE, source);
    EQUAL(status->MPI_TAG, tag);
    EQUAL(found, count);
}

/* What empty statuses hold. MPI-5.0: Point-to-Point Communication, Communication Completion. */
static inline void check_empty(const MPI_Status *status) {
    int cancelled;
    check_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_BYTE, 0);
    OK(MPI_Test_cancelled(status, &cancelled));
    CHECK(!cancelled, "the status is not empty");
}

static inline void joined(void) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    joined();
}

/* The runner looks for the line. */
static inline int end(void) {
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        printf("passed on %d\n", size);
    MPI_Finalize();
    return 0;
}

#endif
