/* An operation of the program's ends the job from within a reduction: by MPI_Abort, or by a call that is wrong.
   MPI-5.0: Collective Communication, User-Defined Reduction Operations. */
#include "check.h"

static int is_wrong;

static void give_up(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    (void)in, (void)inout, (void)count, (void)datatype;
    if (is_wrong)
        MPI_Type_size(MPI_DATATYPE_NULL, count);
    else
        MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv) {
    int provided, mine = 1, sum;
    MPI_Op op;
    MPI_Request request = MPI_REQUEST_NULL;
    (void)argc;
    MPI_Init_thread(NULL, NULL, argv[1][0] == 'm' ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    is_wrong = argv[3][0] == 'w';
    MPI_Op_create(give_up, 1, &op);
    switch (argv[2][0]) {
    case 'b':
        MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        break;
    case 'n':
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
        break;
    default:
        MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    puts("the reduction is over");
    return 0;
}
