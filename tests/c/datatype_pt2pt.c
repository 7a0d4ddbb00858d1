/* Vectors and contiguous types on either side of a message: the type signatures match, the layouts need not.
   MPI-5.0: Datatypes, Derived Datatypes. */
#include "check.h"

enum { ROWS = 400, COLUMNS = 90 };

static int sent[ROWS][COLUMNS], received[ROWS][COLUMNS];

static MPI_Datatype committed(MPI_Datatype type) {
    OK(MPI_Type_commit(&type));
    return type;
}

static void exchange(void *from, int send_count, MPI_Datatype send, int receive_count, MPI_Datatype receive) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, count;
    MPI_Request request;
    MPI_Status status;
    memset(received, 255, sizeof received);
    OK(MPI_Irecv(received, receive_count, receive, left, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Send(from, send_count, send, right, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, receive, &count));
    EQUAL(count, receive_count);
}

int main(int argc, char **argv) {
    MPI_Datatype column, pair, pairs;
    int bytes;
    begin(&argc, &argv);
    int left = (rank + size - 1) % size;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sent[i][j] = 1000000 * rank + 1000 * i + j;
    OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &column));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_vector(ROWS, 1, COLUMNS / 2, pair, &pairs));
    column = committed(column), pair = committed(pair), pairs = committed(pairs);
    OK(MPI_Type_size(column, &bytes));
    EQUAL(bytes, ROWS * sizeof(int));

    /* A column to a row of memory, a row to a column, a column to a column. */
    exchange(&sent[0][3], 1, column, ROWS, MPI_INT);
    for (int i = 0; i < ROWS; i++)
        EQUAL((&received[0][0])[i], 1000000 * left + 1000 * i + 3);
    exchange(&sent[2][0], ROWS, MPI_INT, 1, column);
    for (int i = 0; i < ROWS; i++) {
        EQUAL(received[i][0], (1000000 * left + 1000 * (2 + i / COLUMNS) + i % COLUMNS));
        EQUAL(received[i][1], -1);
    }
    exchange(&sent[0][4], 1, pairs, 1, pairs);
    for (int i = 0; i < ROWS; i++) {
        EQUAL(received[i][0], 1000000 * left + 1000 * i + 4);
        EQUAL(received[i][1], 1000000 * left + 1000 * i + 5);
        EQUAL(received[i][2], -1);
    }
    exchange(&sent[0][4], 1, pairs, ROWS, pair);
    EQUAL(received[0][3], 1000000 * left + 1000 + 5);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&pairs));
    CHECK(pairs == MPI_DATATYPE_NULL, "a freed type becomes null");
    return end();
}
