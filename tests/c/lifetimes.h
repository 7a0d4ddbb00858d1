/* The same collective in every lifetime and width: blocking, nonblocking, and persistent started repeatedly
   with changed data. */
#ifndef OXMPI_TESTS_LIFETIMES_H
#define OXMPI_TESTS_LIFETIMES_H

#include "check.h"

/* Before each operation `prepare(round)` fills the buffers, after it `verify(round)` checks them; rounds differ,
   so that what one leaves behind is no right answer for the next. */
#define IN_THREE_LIFETIMES(prepare, verify, blocking, nonblocking, persistent, ...)                 \
    do {                                                                                            \
        MPI_Request request_;                                                                       \
        prepare(0);                                                                                 \
        OK(blocking(__VA_ARGS__));                                                                  \
        verify(0);                                                                                  \
        prepare(1);                                                                                 \
        OK(nonblocking(__VA_ARGS__, &request_));                                                    \
        OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                                                 \
        verify(1);                                                                                  \
        OK(persistent(__VA_ARGS__, MPI_INFO_NULL, &request_));                                      \
        for (int round_ = 2; round_ < 5; round_++) {                                                \
            prepare(round_);                                                                        \
            OK(MPI_Start(&request_));                                                               \
            wait_for(&request_, round_);                                                            \
            verify(round_);                                                                         \
        }                                                                                           \
        OK(MPI_Request_free(&request_));                                                            \
    } while (0)

/* With `int` counts and with MPI_Count. For collectives without arrays of counts. */
#define IN_EVERY_LIFETIME(prepare, verify, blocking, nonblocking, ...)                              \
    do {                                                                                            \
        IN_THREE_LIFETIMES(prepare, verify, blocking, nonblocking, blocking##_init, __VA_ARGS__);   \
        IN_THREE_LIFETIMES(prepare, verify, blocking##_c, nonblocking##_c, blocking##_init_c, __VA_ARGS__); \
    } while (0)

/* By one of the ways to complete a request. */
static inline void wait_for(MPI_Request *request, int round) {
    int done = 0;
    if (round % 2)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    while (!done)
        OK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    CHECK(*request != MPI_REQUEST_NULL, "persistent requests stay");
}

#endif
