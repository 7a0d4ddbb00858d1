/* Which ranks are on one host: those whose processor has the same name. */
#ifndef OXMPI_TESTS_HOSTS_H
#define OXMPI_TESTS_HOSTS_H

#include "check.h"

/* How many ranks are on this one's host; of these, how many come after it. */
static inline int on_this_host(int *after) {
    char mine[MPI_MAX_PROCESSOR_NAME] = "", *all = calloc(size, sizeof mine);
    int length, count = 0;
    OK(MPI_Get_processor_name(mine, &length));
    OK(MPI_Allgather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, MPI_COMM_WORLD));
    *after = 0;
    for (int r = 0; r < size; r++) {
        int is_here = strcmp(all + r * sizeof mine, mine) == 0;
        count += is_here;
        *after += is_here && r > rank;
    }
    free(all);
    return count;
}

#endif
