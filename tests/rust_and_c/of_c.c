/* The C library of a Rust program: communicates on MPI_COMM_WORLD, which it begins itself where nobody has. */
#include <mpi.h>
#include <stddef.h>

int c_world(int *rank, int *size) {
    int flag, code = MPI_Initialized(&flag);
    if (code == MPI_SUCCESS && !flag)
        code = MPI_Init(NULL, NULL);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return code == MPI_SUCCESS ? MPI_Comm_size(MPI_COMM_WORLD, size) : code;
}

/* What changes nothing: a session comes and goes, and a second MPI_Init is refused. */
int c_in_vain(void) {
    MPI_Session session;
    int class, code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    if (code == MPI_SUCCESS)
        code = MPI_Session_finalize(&session);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (code != MPI_SUCCESS)
        return code;
    MPI_Error_class(MPI_Init(NULL, NULL), &class);
    return class == MPI_ERR_OTHER ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int c_sum(const double *mine, double *sum, int count) {
    MPI_Request request;
    int code = MPI_Allreduce_init(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 3 && code == MPI_SUCCESS; round++) {
        code = MPI_Start(&request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return code == MPI_SUCCESS ? MPI_Request_free(&request) : code;
}

int c_sum_on(MPI_Comm comm, const double *mine, double *sum, int count) {
    return MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm);
}

static int deleted;

static int count(MPI_Comm comm, int keyval, void *value, void *state) {
    (void)comm, (void)keyval, (void)value, (void)state;
    deleted++;
    return MPI_SUCCESS;
}

int c_attach(MPI_Comm comm) {
    int keyval, code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count, &keyval, NULL);
    return code == MPI_SUCCESS ? MPI_Comm_set_attr(comm, keyval, NULL) : code;
}

/* How often what was attached was deleted. */
int c_deleted(void) {
    return deleted;
}

/* Takes the room for buffered messages back. */
int c_detach(MPI_Comm comm) {
    void *address;
    int bytes;
    return MPI_Comm_detach_buffer(comm, &address, &bytes);
}

/* Of every other rank. */
int c_halves(MPI_Comm comm, MPI_Comm *half) {
    int rank, code = MPI_Comm_rank(comm, &rank);
    return code == MPI_SUCCESS ? MPI_Comm_split(comm, rank % 2, rank, half) : code;
}

int c_free(MPI_Comm *comm) {
    return MPI_Comm_free(comm);
}

static MPI_Session single;

/* Says that the program has one thread, for all, where nobody uses MPI yet. */
int c_open_single(void) {
    MPI_Info info;
    int code = MPI_Info_create(&info);
    if (code == MPI_SUCCESS)
        code = MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    if (code == MPI_SUCCESS)
        code = MPI_Session_init(info, MPI_ERRORS_RETURN, &single);
    return code == MPI_SUCCESS ? MPI_Info_free(&info) : code;
}

int c_close_single(void) {
    return MPI_Session_finalize(&single);
}

int c_send(int value, int dest) {
    return MPI_Send(&value, 1, MPI_INT, dest, 7, MPI_COMM_WORLD);
}

int c_finalized(void) {
    int flag = 0;
    MPI_Finalized(&flag);
    return flag;
}
