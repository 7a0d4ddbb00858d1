/* Numbers that look random and are the same on every rank that begins with the same seed. */
#ifndef OXMPI_TESTS_RANDOM_H
#define OXMPI_TESTS_RANDOM_H

typedef struct { unsigned long long state; } Random;

/* A number from 0 to `below` - 1. */
static inline int next(Random *random, int below) {
    random->state = random->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((random->state >> 33) % (unsigned)below);
}

/* A length: mostly short, sometimes long. */
static inline int next_length(Random *random, int longest) {
    int kind = next(random, 10);
    return next(random, kind < 6 ? 20 : kind < 9 ? 3000 : longest);
}

#endif
