/* How much memory a process has. */
#ifndef RESIDENT_H
#define RESIDENT_H

#include <unistd.h>

#include "check.h"

/* Pages that it has in memory. */
static long resident(void) {
    long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &all, &pages) == 2, "the system tells sizes");
    fclose(file);
    return pages;
}

#endif
