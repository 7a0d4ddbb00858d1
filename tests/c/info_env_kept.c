/* What MPI_INFO_ENV holds fits the room that programs have for a value, however long the command line, and stays as it
   is when the program goes elsewhere, also where no folder is.
   MPI-5.0: Process Initialization, Creation, and Management, Starting MPI Processes; The Info Object. */
#include <unistd.h>

#include "check.h"

enum { MOST = 32 };

static char keys[MOST][MPI_MAX_INFO_KEY + 1], values[MOST][MPI_MAX_INFO_VAL];
static int count;

static void read_all(void) {
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &count));
    CHECK(count <= MOST, "there are %d keys", count);
    for (int k = 0; k < count; k++) {
        int length, needed = 0, flag;
        OK(MPI_Info_get_nthkey(MPI_INFO_ENV, k, keys[k]));
        OK(MPI_Info_get_valuelen(MPI_INFO_ENV, keys[k], &length, &flag));
        CHECK(flag && length < MPI_MAX_INFO_VAL, "the value of %s has %d bytes", keys[k], length);
        OK(MPI_Info_get_string(MPI_INFO_ENV, keys[k], &needed, NULL, &flag));
        EQUAL(needed, length + 1);
        OK(MPI_Info_get_string(MPI_INFO_ENV, keys[k], &needed, values[k], &flag));
        EQUAL(strlen(values[k]), length);
    }
}

/* The same keys in the same order, with the same values. */
static void check_kept(void) {
    static char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL];
    int found, length, flag;
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &found));
    EQUAL(found, count);
    for (int k = 0; k < count; k++) {
        OK(MPI_Info_get_nthkey(MPI_INFO_ENV, k, key));
        CHECK(strcmp(key, keys[k]) == 0, "key %d was %s and is %s", k, keys[k], key);
        length = sizeof value;
        OK(MPI_Info_get_string(MPI_INFO_ENV, key, &length, value, &flag));
        CHECK(flag && strcmp(value, values[k]) == 0, "%s was %s and is %s", key, values[k], value);
    }
}

int main(int argc, char **argv) {
    char folder[] = "/tmp/oxmpi-env-XXXXXX", begun_in[MPI_MAX_INFO_VAL], told[MPI_MAX_INFO_VAL];
    int length = sizeof told, flag;
    CHECK(getcwd(begun_in, sizeof begun_in) && mkdtemp(folder), "two folders");
    begin(&argc, &argv);
    EQUAL(chdir(folder), 0);
    OK(MPI_Info_get_string(MPI_INFO_ENV, "wdir", &length, told, &flag));
    CHECK(flag && strcmp(told, begun_in) == 0, "MPI began in %s, not in %s", begun_in, told);
    read_all();
    EQUAL(rmdir(folder), 0);
    check_kept();
    EQUAL(chdir("/"), 0);
    check_kept();
    return end();
}
