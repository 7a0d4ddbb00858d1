/* Error classes, codes and strings that the program adds and removes, before MPI is initialised too.
   MPI-5.0: MPI Environmental Management, Error Classes, Error Codes, and Error Handlers. */
#include "check.h"

static int heard;

static void hear(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    heard = *code;
}

static void is_called(int code, const char *expected) {
    const char *found = text_of(code);
    CHECK(strcmp(found, expected) == 0, "code %d is called '%s', not '%s'", code, found, expected);
}

static void strings(int class, int code) {
    char long_text[MPI_MAX_ERROR_STRING + 1];
    is_called(class, "");
    OK(MPI_Add_error_string(class, "a class of its own"));
    is_called(class, "a class of its own");
    OK(MPI_Add_error_string(code, ""));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_code(code));
    OK(MPI_Remove_error_string(code));
    OK(MPI_Add_error_string(code, "first"));
    OK(MPI_Add_error_string(code, "second"));
    is_called(code, "second");
    memset(long_text, 'x', MPI_MAX_ERROR_STRING);
    long_text[MPI_MAX_ERROR_STRING] = 0;
    GIVES(MPI_ERR_ARG, MPI_Add_error_string(code, long_text));
    long_text[MPI_MAX_ERROR_STRING - 1] = 0;
    OK(MPI_Add_error_string(code, long_text));
    is_called(code, long_text);
    OK(MPI_Add_error_string(code, "no \xe9 of UTF-8"));
    is_called(code, "no \xe9 of UTF-8");
    GIVES(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_RANK, "not ours"));
    GIVES(MPI_ERR_ARG, MPI_Add_error_string(code + 1000, "none"));
    GIVES(MPI_ERR_ARG, MPI_Add_error_string(code, NULL));
}

static void called(int code) {
    MPI_Errhandler mine;
    OK(MPI_Comm_create_errhandler(hear, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine));
    OK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code));
    EQUAL(heard, code);
    GIVES(MPI_ERR_ARG, MPI_Comm_call_errhandler(MPI_COMM_WORLD, code + 1000));
    EQUAL(heard, MPI_ERR_ARG);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&mine));
}

static void removed(int class, int code, int standard) {
    GIVES(MPI_ERR_ARG, MPI_Remove_error_class(class));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_code(code));
    OK(MPI_Remove_error_string(code));
    is_called(code, "");
    GIVES(MPI_ERR_ARG, MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    GIVES(MPI_ERR_ARG, MPI_Error_class(code, &heard));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_code(code));
    OK(MPI_Remove_error_string(class));
    OK(MPI_Remove_error_class(class));
    OK(MPI_Remove_error_code(standard));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_class(MPI_ERR_RANK));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_code(MPI_ERR_RANK));
    GIVES(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_RANK));
}

int main(int argc, char **argv) {
    int class, code, standard, length, *last, flag;
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_code(MPI_ERR_RANK, &standard));
    CHECK(class > MPI_ERR_LASTCODE && code > class && standard > code, "numbers of their own");
    EQUAL(class_of(class), class);
    EQUAL(class_of(code), class);
    EQUAL(class_of(standard), MPI_ERR_RANK);

    begin(&argc, &argv);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    EQUAL(*last, standard);
    strings(class, code);
    called(code);
    removed(class, code, standard);

    for (int known = MPI_SUCCESS; known <= MPI_ERR_LASTCODE; known++)
        if (MPI_Error_class(known, &class) == MPI_SUCCESS) {
            EQUAL(class, known);
            CHECK(strlen(text_of(known)) > 0, "class %d of the standard has a text", known);
        }
    GIVES(MPI_ERR_ARG, MPI_Error_class(-1, &class));
    GIVES(MPI_ERR_ARG, MPI_Error_class(MPI_ERR_ARG, NULL));
    GIVES(MPI_ERR_ARG, MPI_Error_string(MPI_ERR_ARG, NULL, &length));
    GIVES(MPI_ERR_ARG, MPI_Add_error_class(NULL));
    GIVES(MPI_ERR_ARG, MPI_Add_error_code(standard, &code));
    GIVES(MPI_ERR_ARG, MPI_Add_error_code(MPI_ERR_ARG, NULL));
    return end();
}
