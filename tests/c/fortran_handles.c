/* Fortran's integers for handles and statuses, converted there and back: predefined and made, of every kind. In what C90
   and C++98 share, as mpi_fint.h is.
   MPI-5.0: Language Bindings, Language Interoperability. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                            \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                           \
        }                                                                                           \
    } while (0)

/* There and back, through the library's functions and through pointers to them. */
#define ROUND_TRIP(kind, type, handle)                                                              \
    do {                                                                                            \
        MPI_Fint (*to)(type) = MPI_##kind##_c2f, (*profiled_to)(type) = PMPI_##kind##_c2f;          \
        type (*from)(MPI_Fint) = MPI_##kind##_f2c, (*profiled_from)(MPI_Fint) = PMPI_##kind##_f2c;  \
        MPI_Fint number = MPI_##kind##_c2f(handle);                                                 \
        CHECK(MPI_##kind##_f2c(number) == (handle));                                                \
        CHECK(to(handle) == number && from(number) == (handle));                                    \
        CHECK(profiled_to(handle) == number && profiled_from(number) == (handle));                  \
        CHECK(MPI_##kind##_toint(handle) == number);                                                \
    } while (0)

static void check_predefined(void) {
    ROUND_TRIP(Comm, MPI_Comm, MPI_COMM_NULL);
    ROUND_TRIP(Comm, MPI_Comm, MPI_COMM_WORLD);
    ROUND_TRIP(Comm, MPI_Comm, MPI_COMM_SELF);
    ROUND_TRIP(Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL);
    ROUND_TRIP(Errhandler, MPI_Errhandler, MPI_ERRORS_RETURN);
    ROUND_TRIP(File, MPI_File, MPI_FILE_NULL);
    ROUND_TRIP(Group, MPI_Group, MPI_GROUP_NULL);
    ROUND_TRIP(Group, MPI_Group, MPI_GROUP_EMPTY);
    ROUND_TRIP(Info, MPI_Info, MPI_INFO_NULL);
    ROUND_TRIP(Info, MPI_Info, MPI_INFO_ENV);
    ROUND_TRIP(Message, MPI_Message, MPI_MESSAGE_NULL);
    ROUND_TRIP(Message, MPI_Message, MPI_MESSAGE_NO_PROC);
    ROUND_TRIP(Op, MPI_Op, MPI_OP_NULL);
    ROUND_TRIP(Op, MPI_Op, MPI_SUM);
    ROUND_TRIP(Request, MPI_Request, MPI_REQUEST_NULL);
    ROUND_TRIP(Session, MPI_Session, MPI_SESSION_NULL);
    ROUND_TRIP(Type, MPI_Datatype, MPI_DATATYPE_NULL);
    ROUND_TRIP(Type, MPI_Datatype, MPI_DOUBLE_PRECISION);
    ROUND_TRIP(Win, MPI_Win, MPI_WIN_NULL);
}

static void ignore(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    (void)code;
}

static void keep(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in;
    (void)inout;
    (void)count;
    (void)type;
}

static void check_made(void) {
    MPI_Comm comm;
    MPI_Datatype type;
    MPI_Errhandler errhandler;
    MPI_Group group;
    MPI_Info info;
    MPI_Op op;
    MPI_Session session;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Comm_create_errhandler(ignore, &errhandler);
    MPI_Comm_group(comm, &group);
    MPI_Info_create(&info);
    MPI_Op_create(keep, 1, &op);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    ROUND_TRIP(Comm, MPI_Comm, comm);
    ROUND_TRIP(Type, MPI_Datatype, type);
    ROUND_TRIP(Errhandler, MPI_Errhandler, errhandler);
    ROUND_TRIP(Group, MPI_Group, group);
    ROUND_TRIP(Info, MPI_Info, info);
    ROUND_TRIP(Op, MPI_Op, op);
    ROUND_TRIP(Session, MPI_Session, session);
    MPI_Session_finalize(&session);
    MPI_Op_free(&op);
    MPI_Info_free(&info);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&errhandler);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
}

/* Source, tag, error, count and cancellation are as they were. */
static void check_same(const MPI_Status *status, int source) {
    int count, cancelled;
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == 7 && status->MPI_ERROR == MPI_ERR_OTHER);
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == 2);
    MPI_Test_cancelled(status, &cancelled);
    CHECK(!cancelled);
}

static void check_conversions(const MPI_Status *status, int source) {
    MPI_Fint numbers[MPI_F_STATUS_SIZE], again[MPI_F_STATUS_SIZE];
    MPI_F08_status fortran, profiled;
    MPI_Status back;
    CHECK(MPI_Status_c2f(status, numbers) == MPI_SUCCESS);
    CHECK(numbers[MPI_F_SOURCE] == source && numbers[MPI_F_TAG] == 7 && numbers[MPI_F_ERROR] == MPI_ERR_OTHER);
    CHECK(MPI_Status_f2c(numbers, &back) == MPI_SUCCESS);
    check_same(&back, source);
    CHECK(MPI_Status_f2f08(numbers, &fortran) == MPI_SUCCESS);
    CHECK(fortran.MPI_SOURCE == source && fortran.MPI_TAG == 7 && fortran.MPI_ERROR == MPI_ERR_OTHER);
    CHECK(MPI_Status_f082c(&fortran, &back) == MPI_SUCCESS);
    check_same(&back, source);
    CHECK(MPI_Status_c2f08(status, &fortran) == MPI_SUCCESS);
    CHECK(MPI_Status_f082f(&fortran, again) == MPI_SUCCESS);
    CHECK(PMPI_Status_f2f08(again, &profiled) == MPI_SUCCESS && PMPI_Status_f082c(&profiled, &back) == MPI_SUCCESS);
    check_same(&back, source);
    CHECK(PMPI_Status_c2f(status, again) == MPI_SUCCESS && PMPI_Status_f2c(again, &back) == MPI_SUCCESS);
    check_same(&back, source);
    CHECK(PMPI_Status_c2f08(status, &profiled) == MPI_SUCCESS && PMPI_Status_f082f(&profiled, again) == MPI_SUCCESS);
    CHECK(PMPI_Status_f2c(again, &back) == MPI_SUCCESS);
    check_same(&back, source);
}

/* A request, a message and the status of a receive. */
static void check_messages(int rank) {
    int sent[2], received[2];
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    sent[0] = sent[1] = rank;
    MPI_Isend(sent, 2, MPI_INT, rank, 7, MPI_COMM_WORLD, &request);
    ROUND_TRIP(Request, MPI_Request, request);
    MPI_Mprobe(rank, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    ROUND_TRIP(Message, MPI_Message, message);
    message = MPI_Message_f2c(MPI_Message_c2f(message));
    MPI_Mrecv(received, 2, MPI_INT, &message, &status);
    request = MPI_Request_f2c(MPI_Request_c2f(request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    status.MPI_ERROR = MPI_ERR_OTHER;
    check_conversions(&status, rank);
}

static int class_of(int code) {
    int error_class;
    MPI_Error_class(code, &error_class);
    return error_class;
}

/* No status is an error that the handler hears of, and no crash. */
static void check_refusals(void) {
    MPI_Fint numbers[MPI_F_STATUS_SIZE];
    MPI_Fint *no_numbers = NULL;
    MPI_Status status;
    CHECK(class_of(MPI_Status_c2f(MPI_STATUS_IGNORE, numbers)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_c2f(&status, no_numbers)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_f2c(no_numbers, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_f2c(numbers, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_c2f08(MPI_STATUS_IGNORE, &status)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Status_f082c(&status, MPI_STATUS_IGNORE)) == MPI_ERR_ARG);
    CHECK(MPI_Comm_f2c(-1) == MPI_COMM_NULL);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_predefined();
    check_made();
    check_messages(rank);
    check_refusals();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("passed on %d\n", size);
    MPI_Finalize();
    return 0;
}
