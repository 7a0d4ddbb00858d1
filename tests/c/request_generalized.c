/* Generalized requests: when the program's functions are called, and what becomes of what they return.
   MPI-5.0: External Interfaces, Generalized Requests. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { SOURCE = 77, TAG = 11, ELEMENTS = 5 };

/* What the functions of a request return, and how often they were called. */
struct operation {
    int query_code, free_code, cancel_code;
    int queries, frees, cancels, told_complete;
    MPI_Request *completed_by_cancel;
};

/* Functions may call MPI. */
static void talk_to_myself(void) {
    int sent = rank, received = -1;
    OK(MPI_Sendrecv(&sent, 1, MPI_INT, 0, 5, &received, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    EQUAL(received, rank);
}

static int query(void *state, MPI_Status *status) {
    struct operation *operation = state;
    EQUAL(operation->frees, 0);
    operation->queries++;
    talk_to_myself();
    status->MPI_SOURCE = SOURCE;
    status->MPI_TAG = TAG;
    OK(MPI_Status_set_elements(status, MPI_INT, ELEMENTS));
    OK(MPI_Status_set_cancelled(status, operation->cancels > 0));
    return operation->query_code;
}

static int release(void *state) {
    struct operation *operation = state;
    operation->frees++;
    talk_to_myself();
    return operation->free_code;
}

static int cancel(void *state, int complete) {
    struct operation *operation = state;
    operation->cancels++;
    operation->told_complete = complete;
    if (operation->completed_by_cancel)
        OK(MPI_Grequest_complete(*operation->completed_by_cancel));
    return operation->cancel_code;
}

static MPI_Request started(struct operation *operation) {
    MPI_Request request = MPI_REQUEST_NULL;
    OK(MPI_Grequest_start(query, release, cancel, operation, &request));
    CHECK(request != MPI_REQUEST_NULL, "a request is there");
    return request;
}

static MPI_Request complete(struct operation *operation) {
    MPI_Request request = started(operation);
    OK(MPI_Grequest_complete(request));
    return request;
}

static void check_calls(const struct operation *operation, int queries, int frees, int cancels) {
    EQUAL(operation->queries, queries);
    EQUAL(operation->frees, frees);
    EQUAL(operation->cancels, cancels);
}

static void check_told(const MPI_Status *status, int expect_cancelled) {
    int cancelled;
    check_status(status, SOURCE, TAG, MPI_INT, ELEMENTS);
    OK(MPI_Test_cancelled(status, &cancelled));
    EQUAL(cancelled, expect_cancelled);
}

static void functions_are_called_when_the_request_is_completed(void) {
    struct operation operation = {0};
    MPI_Request request = started(&operation);
    MPI_Status status = {.MPI_ERROR = 99};
    int flag = -1;
    OK(MPI_Test(&request, &flag, &status));
    EQUAL(flag, 0);
    OK(MPI_Request_get_status(request, &flag, &status));
    EQUAL(flag, 0);
    check_calls(&operation, 0, 0, 0);
    OK(MPI_Grequest_complete(request));
    check_calls(&operation, 0, 0, 0);
    for (int asked = 1; asked <= 3; asked++) {
        OK(MPI_Request_get_status(request, &flag, &status));
        EQUAL(flag, 1);
        check_told(&status, 0);
        check_calls(&operation, asked, 0, 0);
    }
    OK(MPI_Test(&request, &flag, &status));
    EQUAL(flag, 1);
    check_told(&status, 0);
    EQUAL(status.MPI_ERROR, 99);
    check_calls(&operation, 4, 1, 0);
    CHECK(request == MPI_REQUEST_NULL, "it was completed");
    OK(MPI_Wait(&request, &status));
    check_calls(&operation, 4, 1, 0);
}

static void statuses_may_be_ignored(void) {
    struct operation operations[3] = {0};
    MPI_Request request = complete(&operations[0]);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_calls(&operations[0], 1, 1, 0);
    MPI_Request requests[2] = {complete(&operations[1]), complete(&operations[2])};
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_calls(&operations[1], 1, 1, 0);
    check_calls(&operations[2], 1, 1, 0);
}

/* Whichever comes last, freeing the request or completing the operation, calls the free function. */
static void requests_may_be_freed(void) {
    struct operation early = {0}, late = {0};
    MPI_Request request = started(&early), copy = request;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "a freed request becomes null");
    check_calls(&early, 0, 0, 0);
    GIVES(MPI_ERR_REQUEST, MPI_Request_free(&(MPI_Request){copy}));
    OK(MPI_Grequest_complete(copy));
    check_calls(&early, 0, 1, 0);
    GIVES(MPI_ERR_REQUEST, MPI_Grequest_complete(copy));
    request = complete(&late);
    check_calls(&late, 0, 0, 0);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "a freed request becomes null");
    check_calls(&late, 0, 1, 0);
}

static void the_program_cancels(void) {
    struct operation operation = {0}, patient = {0};
    MPI_Status status;
    MPI_Request request = started(&patient);
    OK(MPI_Cancel(&request));
    EQUAL(patient.told_complete, 0);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Cancel(&request));
    EQUAL(patient.told_complete, 1);
    OK(MPI_Wait(&request, &status));
    check_told(&status, 1);
    check_calls(&patient, 1, 1, 2);
    request = started(&operation);
    operation.completed_by_cancel = &request;
    OK(MPI_Cancel(&request));
    operation.completed_by_cancel = NULL;
    EQUAL(operation.told_complete, 0);
    OK(MPI_Wait(&request, &status));
    check_told(&status, 1);
    check_calls(&operation, 1, 1, 1);
}

static void one_code_is_returned(void) {
    int class, code;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    struct operation operation = {.free_code = code};
    MPI_Request request = complete(&operation);
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), code);
    CHECK(request == MPI_REQUEST_NULL, "it is freed nevertheless");
    operation = (struct operation){.query_code = MPI_ERR_BUFFER};
    request = complete(&operation);
    int flag;
    EQUAL(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    check_calls(&operation, 2, 1, 0);
    operation = (struct operation){.query_code = MPI_ERR_BUFFER, .free_code = code};
    request = complete(&operation);
    EQUAL(MPI_Wait(&request, MPI_STATUS_IGNORE), code);
    operation = (struct operation){.free_code = code, .cancel_code = class};
    request = started(&operation);
    MPI_Request copy = request;
    EQUAL(MPI_Cancel(&request), class);
    OK(MPI_Request_free(&request));
    EQUAL(MPI_Grequest_complete(copy), code);
    request = complete(&operation);
    EQUAL(MPI_Request_free(&request), code);
    CHECK(request == MPI_REQUEST_NULL, "it is freed nevertheless");
}

/* Error fields are written only with MPI_ERR_IN_STATUS, then all of them.
   MPI-5.0: Point-to-Point Communication, Return Status. */
static void codes_of_several_are_in_the_statuses(int wrong_place, int test) {
    int class, flag = 1, fine_place = 2 - wrong_place;
    OK(MPI_Add_error_class(&class));
    struct operation fine = {0}, wrong = {.free_code = class};
    MPI_Request requests[4] = {[1] = MPI_REQUEST_NULL};
    MPI_Status statuses[4] = {{.MPI_ERROR = 99}, {.MPI_ERROR = 99}, {.MPI_ERROR = 99}, {.MPI_ERROR = 99}};
    requests[fine_place] = complete(&fine), requests[wrong_place] = complete(&wrong);
    OK(MPI_Isend(&class, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[3]));
    if (test)
        GIVES(MPI_ERR_IN_STATUS, MPI_Testall(4, requests, &flag, statuses));
    else
        GIVES(MPI_ERR_IN_STATUS, MPI_Waitall(4, requests, statuses));
    CHECK(flag, "all were complete");
    for (int place = 0; place < 4; place++)
        EQUAL(statuses[place].MPI_ERROR, place == wrong_place ? class : MPI_SUCCESS);
    check_told(&statuses[fine_place], 0);
    check_empty(&statuses[1]);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL, "both are over");
}

/* Messages and a collective beside the generalized request, which is the last to be complete. */
struct mixture {
    MPI_Request requests[5], persistent;
    struct operation operation;
    int sent, received, again, sum;
};

enum { RECEIVE, SEND, GENERALIZED, COLLECTIVE, PERSISTENT };

static void mix(struct mixture *mixture) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    *mixture = (struct mixture){.sent = rank};
    OK(MPI_Irecv(&mixture->received, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &mixture->requests[RECEIVE]));
    OK(MPI_Isend(&mixture->sent, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &mixture->requests[SEND]));
    mixture->requests[GENERALIZED] = started(&mixture->operation);
    OK(MPI_Iallreduce(&mixture->sent, &mixture->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                      &mixture->requests[COLLECTIVE]));
    OK(MPI_Recv_init(&mixture->again, 1, MPI_INT, left, 2, MPI_COMM_WORLD, &mixture->persistent));
    mixture->requests[PERSISTENT] = mixture->persistent;
    OK(MPI_Start(&mixture->requests[PERSISTENT]));
    OK(MPI_Send(&mixture->sent, 1, MPI_INT, right, 2, MPI_COMM_WORLD));
}

static void check_mixture(struct mixture *mixture) {
    int left = (rank + size - 1) % size;
    EQUAL(mixture->received, left);
    EQUAL(mixture->again, left);
    EQUAL(mixture->sum, size * (size - 1) / 2);
    check_calls(&mixture->operation, 1, 1, 0);
    for (int place = 0; place < PERSISTENT; place++)
        CHECK(mixture->requests[place] == MPI_REQUEST_NULL, "request %d is over", place);
    OK(MPI_Request_free(&mixture->requests[PERSISTENT]));
}

static void together_with_others(void) {
    struct mixture mixture;
    MPI_Status statuses[5];
    int flag;
    mix(&mixture);
    for (int look = 0; look < 10; look++) {
        OK(MPI_Testall(5, mixture.requests, &flag, statuses));
        CHECK(!flag, "the program has not completed its own yet");
    }
    check_calls(&mixture.operation, 0, 0, 0);
    OK(MPI_Grequest_complete(mixture.requests[GENERALIZED]));
    do
        OK(MPI_Testall(5, mixture.requests, &flag, statuses));
    while (!flag);
    check_told(&statuses[GENERALIZED], 0);
    check_mixture(&mixture);
    mix(&mixture);
    OK(MPI_Grequest_complete(mixture.requests[GENERALIZED]));
    OK(MPI_Waitall(5, mixture.requests, statuses));
    check_told(&statuses[GENERALIZED], 0);
    check_status(&statuses[RECEIVE], (rank + size - 1) % size, 1, MPI_INT, 1);
    check_mixture(&mixture);
}

static void one_of_several(void) {
    struct mixture mixture;
    MPI_Status status;
    int index, flag;
    mix(&mixture);
    for (int over = 0; over < 4; over++) {
        OK(MPI_Waitany(5, mixture.requests, &index, &status));
        CHECK(index >= 0 && index != GENERALIZED, "the program has not completed its own yet");
    }
    OK(MPI_Testany(5, mixture.requests, &index, &flag, &status));
    CHECK(!flag, "one is left");
    check_calls(&mixture.operation, 0, 0, 0);
    OK(MPI_Grequest_complete(mixture.requests[GENERALIZED]));
    OK(MPI_Testany(5, mixture.requests, &index, &flag, &status));
    EQUAL(flag, 1);
    EQUAL(index, GENERALIZED);
    check_told(&status, 0);
    OK(MPI_Waitany(5, mixture.requests, &index, &status));
    EQUAL(index, MPI_UNDEFINED);
    check_mixture(&mixture);
}

static void some_of_several(int wait) {
    struct mixture mixture;
    MPI_Status statuses[5];
    int indices[5], count, seen = 0;
    mix(&mixture);
    OK(MPI_Grequest_complete(mixture.requests[GENERALIZED]));
    while (seen != 31) {
        for (int place = 0; place < 5; place++)
            statuses[place].MPI_ERROR = 99;
        OK((wait ? MPI_Waitsome : MPI_Testsome)(5, mixture.requests, &count, indices, statuses));
        for (int place = 0; place < count; place++) {
            CHECK(!(seen & 1 << indices[place]), "each is over once");
            seen |= 1 << indices[place];
            EQUAL(statuses[place].MPI_ERROR, 99);
            if (indices[place] == GENERALIZED)
                check_told(&statuses[place], 0);
        }
    }
    check_mixture(&mixture);
}

/* What the other thread receives is what the request stands for. */
/* Asked for the status of any, only that one says it. */
static void any_is_asked_alone(void) {
    struct operation first = {0}, second = {.query_code = MPI_ERR_OTHER};
    MPI_Request requests[2] = {complete(&first), complete(&second)};
    MPI_Status status;
    int index = -1, flag = 0;
    OK(MPI_Request_get_status_any(2, requests, &index, &flag, &status));
    EQUAL(flag, 1);
    EQUAL(index, 0);
    check_told(&status, 0);
    check_calls(&first, 1, 0, 0);
    check_calls(&second, 0, 0, 0);
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    GIVES(MPI_ERR_OTHER, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
}

static void *receive_and_complete(void *argument) {
    MPI_Request *request = argument;
    int value = -1;
    OK(MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(value, (rank + size - 1) % size);
    OK(MPI_Grequest_complete(*request));
    return NULL;
}

static void another_thread_completes(void) {
    struct operation operation = {0};
    MPI_Request request = started(&operation), copy = request;
    MPI_Status status;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, receive_and_complete, &copy) == 0, "a thread can be made");
    usleep(1000 * rank);
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    check_told(&status, 0);
    check_calls(&operation, 1, 1, 0);
    pthread_join(thread, NULL);
}

static void misuse(void) {
    struct operation operation = {0};
    int value;
    MPI_Request request = MPI_REQUEST_NULL, receive;
    GIVES(MPI_ERR_ARG, MPI_Grequest_start(NULL, release, cancel, &operation, &request));
    GIVES(MPI_ERR_ARG, MPI_Grequest_start(query, NULL, cancel, &operation, &request));
    GIVES(MPI_ERR_ARG, MPI_Grequest_start(query, release, NULL, &operation, &request));
    GIVES(MPI_ERR_ARG, MPI_Grequest_start(query, release, cancel, &operation, NULL));
    CHECK(request == MPI_REQUEST_NULL, "nothing was started");
    GIVES(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    OK(MPI_Irecv(&value, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &receive));
    GIVES(MPI_ERR_REQUEST, MPI_Grequest_complete(receive));
    OK(MPI_Cancel(&receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    request = complete(&operation);
    GIVES(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    GIVES(MPI_ERR_REQUEST, MPI_Start(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_calls(&operation, 1, 1, 0);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    joined();
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    functions_are_called_when_the_request_is_completed();
    statuses_may_be_ignored();
    requests_may_be_freed();
    the_program_cancels();
    one_code_is_returned();
    for (int test = 0; test < 2; test++) {
        codes_of_several_are_in_the_statuses(0, test);
        codes_of_several_are_in_the_statuses(2, test);
    }
    together_with_others();
    one_of_several();
    some_of_several(0);
    some_of_several(1);
    any_is_asked_alone();
    for (int round = 0; round < 20; round++)
        another_thread_completes();
    misuse();
    return end();
}
