/* What programs do to the data around a call, for `--used`: who sends has just written it, and who receives reads it next.

   Without that, what is sent stays in the sender's caches from call to call, and nobody minds whether what is received
   comes into the receiver's. */
#include "bench.h"
#include <stdint.h>

bool used;

static uint64_t seen;

/* Writes each element, and leaves its value. */
void data_made(double *at, long elements) {
    uint64_t *words = (uint64_t *)at;
    static volatile uint64_t nothing;
    const uint64_t change = nothing;
    for (long i = 0; i < elements; i++)
        words[i] ^= change;
}

/* Reads each element. */
void data_read(const double *at, long elements) {
    const uint64_t *words = (const uint64_t *)at;
    uint64_t bits[4] = {seen, 0, 0, 0};
    long i = 0;
    for (; i + 4 <= elements; i += 4)
        for (int k = 0; k < 4; k++)
            bits[k] ^= words[i + k];
    for (; i < elements; i++)
        bits[0] ^= words[i];
    seen = bits[0] ^ bits[1] ^ bits[2] ^ bits[3];
}
