/* Attributes of datatypes: copied by MPI_Type_dup, deleted by MPI_Type_free, of predefined types too.
   MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching, Datatypes. */
#include "check.h"

static int copied, deleted, refusal;

static int copy(MPI_Datatype old, int keyval, void *extra, void *value, void *copy_of_value, int *flag) {
    int bytes;
    (void)keyval, (void)extra;
    OK(MPI_Type_size(old, &bytes));
    copied++;
    *(void **)copy_of_value = (char *)value + bytes;
    *flag = 1;
    return refusal;
}

static int delete(MPI_Datatype type, int keyval, void *value, void *extra) {
    (void)type, (void)keyval, (void)value, (void)extra;
    deleted++;
    return refusal;
}

int main(int argc, char **argv) {
    MPI_Datatype type, second;
    int keyval, of_comms, flag;
    char place[16], *found;
    begin(&argc, &argv);
    OK(MPI_Type_create_keyval(copy, delete, &keyval, NULL));
    OK(MPI_Type_set_attr(MPI_INT, keyval, place));
    OK(MPI_Type_dup(MPI_INT, &type));
    EQUAL(copied, 1);
    OK(MPI_Type_get_attr(type, keyval, &found, &flag));
    CHECK(flag && found == place + sizeof(int), "what the copy callback said");
    OK(MPI_Type_contiguous(2, type, &second));
    OK(MPI_Type_get_attr(second, keyval, &found, &flag));
    CHECK(!flag, "only duplicates inherit");
    OK(MPI_Type_free(&second));
    OK(MPI_Type_delete_attr(MPI_INT, keyval));
    EQUAL(deleted, 1);
    refusal = MPI_ERR_INTERN;
    GIVES(MPI_ERR_INTERN, MPI_Type_dup(type, &second));
    GIVES(MPI_ERR_INTERN, MPI_Type_free(&type));
    CHECK(type != MPI_DATATYPE_NULL, "it is not freed");
    EQUAL(deleted, 2);
    refusal = MPI_SUCCESS;
    OK(MPI_Type_free(&type));
    EQUAL(deleted, 3);

    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms, NULL));
    GIVES(MPI_ERR_KEYVAL, MPI_Type_set_attr(MPI_INT, of_comms, place));
    GIVES(MPI_ERR_KEYVAL, MPI_Type_get_attr(MPI_INT, MPI_TAG_UB, &found, &flag));
    GIVES(MPI_ERR_KEYVAL, MPI_Type_delete_attr(MPI_INT, keyval));
    GIVES(MPI_ERR_TYPE, MPI_Type_set_attr(MPI_DATATYPE_NULL, keyval, place));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_attr(MPI_DATATYPE_NULL, keyval, &found, &flag));
    GIVES(MPI_ERR_ARG, MPI_Type_get_attr(MPI_INT, keyval, NULL, &flag));
    OK(MPI_Comm_free_keyval(&of_comms));
    OK(MPI_Type_free_keyval(&keyval));
    return end();
}
