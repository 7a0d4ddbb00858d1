/* Every constructor in both widths tells how it was called, and calling it so again makes an equal datatype.
   MPI-5.0: Datatypes, Decoding a Datatype. */
#include "kinds.h"

enum { MOST = 64 };

/* The arguments of a constructor as those of its large-count form. */
typedef struct {
    int combiner, integers[MOST], large;
    MPI_Count counts[MOST];
    MPI_Count integer_count, count_count, olds;
    MPI_Datatype old[MOST];
} Contents;

/* How many of the counts are addresses if counts are not large. */
static MPI_Count addresses(const Contents *contents) {
    switch (contents->combiner) {
    case MPI_COMBINER_HVECTOR: return 1;
    case MPI_COMBINER_RESIZED: return 2;
    case MPI_COMBINER_HINDEXED: case MPI_COMBINER_HINDEXED_BLOCK: case MPI_COMBINER_STRUCT:
        return contents->counts[0];
    default: return 0;
    }
}

/* Where among the integers of the small form the counts stand. */
static MPI_Count before_counts(int combiner) {
    return combiner == MPI_COMBINER_DARRAY ? 3 : combiner == MPI_COMBINER_SUBARRAY ? 1 : 0;
}

static MPI_Count small_counts(int combiner, const int *integers, MPI_Count all) {
    switch (combiner) {
    case MPI_COMBINER_DARRAY: return integers[2];
    case MPI_COMBINER_SUBARRAY: return 3 * integers[0];
    case MPI_COMBINER_F90_COMPLEX: case MPI_COMBINER_F90_INTEGER: case MPI_COMBINER_F90_REAL: return 0;
    default: return all;
    }
}

static void check_small_envelope(MPI_Datatype type, const Contents *contents) {
    int integers, addressed, olds, combiner;
    if (contents->large) {
        GIVES(MPI_ERR_TYPE, MPI_Type_get_envelope(type, &integers, &addressed, &olds, &combiner));
        return;
    }
    OK(MPI_Type_get_envelope(type, &integers, &addressed, &olds, &combiner));
    EQUAL(integers, contents->integer_count + contents->count_count - addresses(contents));
    EQUAL(addressed, addresses(contents));
    EQUAL(olds, contents->olds);
    EQUAL(combiner, contents->combiner);
}

/* Too little room for one of the arrays. */
static void check_refused(MPI_Datatype type, const MPI_Count room[4]) {
    int integers[MOST];
    MPI_Aint addressed[MOST];
    MPI_Count large[MOST], less[4];
    MPI_Datatype old[MOST];
    for (int i = 0; i < 4; i++)
        if (room[i] > 0) {
            memcpy(less, room, sizeof less);
            less[i]--;
            GIVES(MPI_ERR_ARG, MPI_Type_get_contents_c(type, less[0], less[1], less[2], less[3], integers, addressed,
                large, old));
            if (room[2] == 0)
                GIVES(MPI_ERR_ARG, MPI_Type_get_contents(type, (int)less[0], (int)less[1], (int)less[3], integers,
                    addressed, old));
        }
    if (room[2] > 0)
        GIVES(MPI_ERR_TYPE, MPI_Type_get_contents(type, MOST, MOST, MOST, integers, addressed, old));
}

static Contents contents_of(MPI_Datatype type) {
    Contents contents = {0};
    int integers[MOST];
    MPI_Aint addressed[MOST];
    MPI_Count room[4], at = 0, counts;
    OK(MPI_Type_get_envelope_c(type, room, room + 1, room + 2, room + 3, &contents.combiner));
    check_refused(type, room);
    OK(MPI_Type_get_contents_c(type, room[0], room[1], room[2], room[3], integers, addressed, contents.counts,
        contents.old));
    contents.large = room[2] > 0, contents.olds = room[3];
    if (contents.large) {
        memcpy(contents.integers, integers, sizeof integers);
        contents.integer_count = room[0], contents.count_count = room[2];
        EQUAL(room[1], 0);
    } else {
        counts = small_counts(contents.combiner, integers, room[0]);
        for (int i = 0; i < room[0]; i++) {
            int is_count = i >= before_counts(contents.combiner) && i < before_counts(contents.combiner) + counts;
            if (is_count)
                contents.counts[at++] = integers[i];
            else
                contents.integers[contents.integer_count++] = integers[i];
        }
        for (int i = 0; i < room[1]; i++)
            contents.counts[at++] = addressed[i];
        contents.count_count = at;
        EQUAL(room[1], addresses(&contents));
    }
    check_small_envelope(type, &contents);
    return contents;
}

static MPI_Datatype made_small(const Contents *contents, const MPI_Datatype *old) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int *integers = contents->integers;
    int counts[MOST], n = (int)contents->counts[0];
    MPI_Aint addressed[MOST];
    for (int i = 0; i < contents->count_count; i++)
        counts[i] = (int)contents->counts[i];
    for (MPI_Count i = 0, from = contents->count_count - addresses(contents); i < addresses(contents); i++)
        addressed[i] = (MPI_Aint)contents->counts[from + i];
    switch (contents->combiner) {
    case MPI_COMBINER_CONTIGUOUS: OK(MPI_Type_contiguous(n, *old, &made)); break;
    case MPI_COMBINER_DARRAY:
        n = integers[2];
        OK(MPI_Type_create_darray(integers[0], integers[1], n, counts, integers + 3, integers + 3 + n,
            integers + 3 + 2 * n, integers[3 + 3 * n], *old, &made));
        break;
    case MPI_COMBINER_DUP: OK(MPI_Type_dup(*old, &made)); break;
    case MPI_COMBINER_F90_COMPLEX: OK(MPI_Type_create_f90_complex(integers[0], integers[1], &made)); break;
    case MPI_COMBINER_F90_INTEGER: OK(MPI_Type_create_f90_integer(integers[0], &made)); break;
    case MPI_COMBINER_F90_REAL: OK(MPI_Type_create_f90_real(integers[0], integers[1], &made)); break;
    case MPI_COMBINER_HINDEXED: OK(MPI_Type_create_hindexed(n, counts + 1, addressed, *old, &made)); break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        OK(MPI_Type_create_hindexed_block(n, counts[1], addressed, *old, &made));
        break;
    case MPI_COMBINER_HVECTOR: OK(MPI_Type_create_hvector(n, counts[1], addressed[0], *old, &made)); break;
    case MPI_COMBINER_INDEXED: OK(MPI_Type_indexed(n, counts + 1, counts + 1 + n, *old, &made)); break;
    case MPI_COMBINER_INDEXED_BLOCK:
        OK(MPI_Type_create_indexed_block(n, counts[1], counts + 2, *old, &made));
        break;
    case MPI_COMBINER_RESIZED: OK(MPI_Type_create_resized(*old, addressed[0], addressed[1], &made)); break;
    case MPI_COMBINER_STRUCT: OK(MPI_Type_create_struct(n, counts + 1, addressed, old, &made)); break;
    case MPI_COMBINER_SUBARRAY:
        n = integers[0];
        OK(MPI_Type_create_subarray(n, counts, counts + n, counts + 2 * n, integers[1], *old, &made));
        break;
    case MPI_COMBINER_VECTOR: OK(MPI_Type_vector(n, counts[1], counts[2], *old, &made)); break;
    default: CHECK(0, "combiner %d", contents->combiner);
    }
    return made;
}

static MPI_Datatype made_large(const Contents *contents, const MPI_Datatype *old) {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    const int *integers = contents->integers;
    const MPI_Count *counts = contents->counts, n = counts[0];
    switch (contents->combiner) {
    case MPI_COMBINER_CONTIGUOUS: OK(MPI_Type_contiguous_c(n, *old, &made)); break;
    case MPI_COMBINER_DARRAY: {
        int dims = integers[2];
        OK(MPI_Type_create_darray_c(integers[0], integers[1], dims, counts, integers + 3, integers + 3 + dims,
            integers + 3 + 2 * dims, integers[3 + 3 * dims], *old, &made));
        break;
    }
    case MPI_COMBINER_HINDEXED: OK(MPI_Type_create_hindexed_c(n, counts + 1, counts + 1 + n, *old, &made)); break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        OK(MPI_Type_create_hindexed_block_c(n, counts[1], counts + 2, *old, &made));
        break;
    case MPI_COMBINER_HVECTOR: OK(MPI_Type_create_hvector_c(n, counts[1], counts[2], *old, &made)); break;
    case MPI_COMBINER_INDEXED: OK(MPI_Type_indexed_c(n, counts + 1, counts + 1 + n, *old, &made)); break;
    case MPI_COMBINER_INDEXED_BLOCK:
        OK(MPI_Type_create_indexed_block_c(n, counts[1], counts + 2, *old, &made));
        break;
    case MPI_COMBINER_RESIZED: OK(MPI_Type_create_resized_c(*old, counts[0], counts[1], &made)); break;
    case MPI_COMBINER_STRUCT: OK(MPI_Type_create_struct_c(n, counts + 1, counts + 1 + n, old, &made)); break;
    case MPI_COMBINER_SUBARRAY: {
        int dims = integers[0];
        OK(MPI_Type_create_subarray_c(dims, counts, counts + dims, counts + 2 * dims, integers[1], *old, &made));
        break;
    }
    case MPI_COMBINER_VECTOR: OK(MPI_Type_vector_c(n, counts[1], counts[2], *old, &made)); break;
    default: return made_small(contents, old);
    }
    return made;
}

static int is_predefined(MPI_Datatype type) {
    int integers, addressed, olds, combiner;
    if (MPI_Type_get_envelope(type, &integers, &addressed, &olds, &combiner) != MPI_SUCCESS)
        return 0;
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_COMPLEX
        || combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_REAL;
}

/* The same calls again, down to the predefined datatypes. */
static MPI_Datatype replayed(MPI_Datatype type, MPI_Datatype (*make)(const Contents *, const MPI_Datatype *)) {
    MPI_Datatype old[MOST], made;
    Contents contents = contents_of(type);
    for (int i = 0; i < contents.olds; i++)
        old[i] = is_predefined(contents.old[i]) ? contents.old[i] : replayed(contents.old[i], make);
    made = make(&contents, old);
    for (int i = 0; i < contents.olds; i++)
        if (!is_predefined(contents.old[i])) {
            OK(MPI_Type_free(&contents.old[i]));
            OK(MPI_Type_free(&old[i]));
        }
    return made;
}

static void check_equal(MPI_Datatype type, const Kind *kind) {
    Kind other = {.name = kind->name, .type = type};
    MPI_Count bounds[4], expected[4];
    read_map(&other);
    for (int i = 0; i < ELEMENTS; i++)
        EQUAL(other.map[i], kind->map[i]);
    OK(MPI_Type_get_extent_c(type, bounds, bounds + 1));
    OK(MPI_Type_get_true_extent_c(type, bounds + 2, bounds + 3));
    OK(MPI_Type_get_extent_c(kind->type, expected, expected + 1));
    OK(MPI_Type_get_true_extent_c(kind->type, expected + 2, expected + 3));
    for (int i = 0; i < 4; i++)
        EQUAL(bounds[i], expected[i]);
}

static void check_named(void) {
    int integers, addressed, olds, combiner, array[1];
    MPI_Aint aints[1];
    MPI_Datatype types[1];
    OK(MPI_Type_get_envelope(MPI_DOUBLE, &integers, &addressed, &olds, &combiner));
    EQUAL(integers + addressed + olds, 0);
    EQUAL(combiner, MPI_COMBINER_NAMED);
    GIVES(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_DOUBLE, 1, 1, 1, array, aints, types));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_DATATYPE_NULL, 1, 1, 1, array, aints, types));
    GIVES(MPI_ERR_TYPE, MPI_Type_get_envelope(MPI_DATATYPE_NULL, &integers, &addressed, &olds, &combiner));
    GIVES(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_DOUBLE, &integers, &addressed, &olds, NULL));
}

/* The datatypes that come back are objects of their own. */
static void check_apart(void) {
    MPI_Datatype inner, outer, found;
    char name[MPI_MAX_OBJECT_NAME];
    int integers[1], length;
    OK(MPI_Type_contiguous(2, MPI_INT, &inner));
    OK(MPI_Type_set_name(inner, "inner"));
    OK(MPI_Type_contiguous(3, inner, &outer));
    OK(MPI_Type_get_contents(outer, 1, 0, 1, integers, NULL, &found));
    CHECK(found != inner, "it is an object of its own");
    OK(MPI_Type_get_name(found, name, &length));
    EQUAL(length, 0);
    OK(MPI_Type_set_name(found, "other"));
    OK(MPI_Type_get_name(inner, name, &length));
    CHECK(strcmp(name, "inner") == 0, "it is called %s", name);
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_commit(&found));
    OK(MPI_Type_free(&found));
    OK(MPI_Type_free(&outer));
}

int main(int argc, char **argv) {
    MPI_Datatype small, large, again;
    begin(&argc, &argv);
    make_kinds();
    for (int k = 0; k < KINDS; k++) {
        small = replayed(kinds[k].type, made_small);
        check_equal(small, &kinds[k]);
        large = replayed(small, made_large);
        check_equal(large, &kinds[k]);
        again = replayed(large, made_large);
        check_equal(again, &kinds[k]);
        OK(MPI_Type_free(&small));
        OK(MPI_Type_free(&large));
        OK(MPI_Type_free(&again));
    }
    free_kinds();
    check_named();
    check_apart();
    return end();
}
