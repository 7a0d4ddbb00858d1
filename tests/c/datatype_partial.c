/* Get_count of a message that does not fill whole elements is MPI_UNDEFINED, Get_elements counts basic ones.
   MPI-5.0: Datatypes, Use of General Datatypes in Communication. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Datatype triple;
    MPI_Status status;
    int values[6] = {1, 2, 3, 4, 5, 6}, received[6], count;
    begin(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Type_contiguous(3, MPI_INT, &triple));
    OK(MPI_Type_commit(&triple));
    OK(MPI_Sendrecv(values, 5, MPI_INT, right, 0, received, 2, triple, left, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, triple, &count));
    EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Get_elements(&status, triple, &count));
    EQUAL(count, 5);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    EQUAL(count, 5);
    EQUAL(received[4], 5);
    OK(MPI_Type_free(&triple));
    return end();
}
