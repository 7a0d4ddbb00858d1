/* What a process holds of the system, and that it does not become more. */
#ifndef OXMPI_TESTS_HELD_H
#define OXMPI_TESTS_HELD_H

#include <dirent.h>
#include <unistd.h>

#include "check.h"

/* What is held: kilobytes that are resident, mappings, descriptors; of a process. */
typedef struct { long kilobytes, mappings, files; } Held;

static inline Held held_by(const char *process) {
    Held held = {0, 0, 0};
    char path[64], line[8192];
    snprintf(path, sizeof path, "/proc/%s/status", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "VmRSS: %ld", &held.kilobytes);
    if (file != NULL)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%s/maps", process);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        held.mappings++;
    if (file != NULL)
        fclose(file);
    snprintf(path, sizeof path, "/proc/%s/fd", process);
    DIR *folder = opendir(path);
    while (folder != NULL && readdir(folder) != NULL)
        held.files++;
    if (folder != NULL)
        closedir(folder);
    return held;
}

/* What has ended may still be about to give back what it held; and the places of those segments are kept that were ever
   mapped at the same time, a few more or less. */
static inline void check_held(const char *process, Held before) {
    Held now;
    for (int look = 0; look < 1000; look++) {
        now = held_by(process);
        if (now.files <= before.files + 4 && now.mappings <= before.mappings + 16 &&
            now.kilobytes <= before.kilobytes + 1024)
            return;
        int flag;
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        usleep(10000);
    }
    CHECK(0, "%s: %ld kB, %ld mappings, %ld descriptors; %ld, %ld and %ld before", process, now.kilobytes,
          now.mappings, now.files, before.kilobytes, before.mappings, before.files);
}

#endif
