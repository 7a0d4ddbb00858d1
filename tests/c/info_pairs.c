/* Info objects: pairs of strings, in the order in which the keys were first set; usable before MPI is initialised.
   MPI-5.0: The Info Object. */
#include "check.h"

static void is(MPI_Info info, const char *key, const char *expected) {
    char value[MPI_MAX_INFO_VAL];
    int length = sizeof value, flag;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag, "%s is set", key);
    CHECK(strcmp(value, expected) == 0, "%s is '%s', not '%s'", key, value, expected);
    EQUAL(length, strlen(expected) + 1);
    OK(MPI_Info_get_valuelen(info, key, &length, &flag));
    CHECK(flag && length == (int)strlen(expected), "the length is told without the zero");
    OK(MPI_Info_get(info, key, length, value, &flag));
    CHECK(flag && strcmp(value, expected) == 0, "both functions give the same value");
}

static void keys_are(MPI_Info info, int count, const char *const expected[]) {
    char key[MPI_MAX_INFO_KEY];
    int found;
    OK(MPI_Info_get_nkeys(info, &found));
    EQUAL(found, count);
    for (int n = 0; n < count; n++) {
        OK(MPI_Info_get_nthkey(info, n, key));
        CHECK(strcmp(key, expected[n]) == 0, "key %d is '%s', not '%s'", n, key, expected[n]);
    }
}

static void pairs(void) {
    MPI_Info info, copy;
    OK(MPI_Info_create(&info));
    keys_are(info, 0, NULL);
    OK(MPI_Info_set(info, "b", "1"));
    OK(MPI_Info_set(info, "a", " two "));
    OK(MPI_Info_set(info, "B", ""));
    keys_are(info, 3, (const char *[]){"b", "a", "B"});
    OK(MPI_Info_set(info, "b", "one"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "a"));
    keys_are(info, 2, (const char *[]){"b", "B"});
    keys_are(copy, 3, (const char *[]){"b", "a", "B"});
    is(copy, "b", "one");
    is(copy, "a", " two ");
    is(copy, "B", "");
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL, "a freed handle is null");
    OK(MPI_Info_free(&copy));
}

/* The longest key and value fit; what is longer is refused, and a value is cut to the room there is. */
static void lengths(void) {
    static char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], cut[8];
    MPI_Info info;
    int length, flag;
    OK(MPI_Info_create(&info));
    memset(key, 'k', MPI_MAX_INFO_KEY);
    memset(value, 'v', MPI_MAX_INFO_VAL);
    GIVES(MPI_ERR_INFO_KEY, MPI_Info_set(info, key, "1"));
    GIVES(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "key", value));
    GIVES(MPI_ERR_INFO_KEY, MPI_Info_get_valuelen(info, key, &length, &flag));
    keys_are(info, 0, NULL);
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = 0;
    OK(MPI_Info_set(info, key, value));
    is(info, key, value);
    length = 4;
    OK(MPI_Info_get_string(info, key, &length, cut, &flag));
    CHECK(flag && strcmp(cut, "vvv") == 0, "room for the zero is part of the length");
    EQUAL(length, MPI_MAX_INFO_VAL);
    length = 0;
    OK(MPI_Info_get_string(info, key, &length, NULL, &flag));
    EQUAL(length, MPI_MAX_INFO_VAL);
    OK(MPI_Info_get(info, key, 4, cut, &flag));
    CHECK(flag && strcmp(cut, "vvvv") == 0, "room for the zero is not part of the length");
    OK(MPI_Info_free(&info));
}

/* Strings are bytes, whatever the program means by them, and are cut between any two. */
static void bytes(void) {
    const char *const encoded[] = {"caf\xe9", "caf\xe8", "caf\xc3\xa9"};
    char cut[8];
    int length, flag;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (int i = 0; i < 3; i++)
        OK(MPI_Info_set(info, encoded[i], encoded[i]));
    keys_are(info, 3, encoded);
    for (int i = 0; i < 3; i++)
        is(info, encoded[i], encoded[i]);
    length = 5;
    OK(MPI_Info_get_string(info, encoded[2], &length, cut, &flag));
    CHECK(flag && strcmp(cut, "caf\xc3") == 0, "as many bytes as there is room for");
    OK(MPI_Info_get(info, encoded[2], 4, cut, &flag));
    CHECK(flag && strcmp(cut, "caf\xc3") == 0, "as many bytes as there is room for");
    OK(MPI_Info_free(&info));
}

static void wrong(void) {
    MPI_Info info, stale, null = MPI_INFO_NULL;
    char value[8] = "a value";
    int length = sizeof value, flag;
    OK(MPI_Info_create(&info));
    GIVES(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "none"));
    OK(MPI_Info_get_string(info, "none", &length, value, &flag));
    CHECK(!flag && length == sizeof value && value[0] == 'a', "nothing is written of what is not there");
    OK(MPI_Info_get(info, "none", 3, value, &flag));
    CHECK(!flag, "there is no such key");
    GIVES(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "1"));
    GIVES(MPI_ERR_ARG, MPI_Info_set(info, NULL, "1"));
    GIVES(MPI_ERR_ARG, MPI_Info_set(info, "key", NULL));
    GIVES(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 0, value));
    GIVES(MPI_ERR_ARG, MPI_Info_get_nthkey(info, -1, value));
    length = -1;
    GIVES(MPI_ERR_ARG, MPI_Info_get_string(info, "key", &length, value, &flag));
    GIVES(MPI_ERR_ARG, MPI_Info_get(info, "key", -1, value, &flag));
    GIVES(MPI_ERR_ARG, MPI_Info_create(NULL));
    GIVES(MPI_ERR_INFO, MPI_Info_free(&null));
    GIVES(MPI_ERR_INFO, MPI_Info_dup(MPI_INFO_NULL, &stale));
    GIVES(MPI_ERR_INFO, MPI_Info_get_nkeys((MPI_Info)MPI_COMM_WORLD, &length));
    GIVES(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_ENV, "key", "1"));
    GIVES(MPI_ERR_INFO, MPI_Info_delete(MPI_INFO_ENV, "command"));
    stale = info;
    OK(MPI_Info_free(&info));
    GIVES(MPI_ERR_INFO, MPI_Info_set(stale, "key", "1"));
}

int main(int argc, char **argv) {
    pairs();
    begin(&argc, &argv);
    pairs();
    lengths();
    bytes();
    wrong();
    return end();
}
