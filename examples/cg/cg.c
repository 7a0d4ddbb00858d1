/* Conjugate gradients on a sparse matrix whose rows are distributed over the ranks.
 *
 *     mpiexec -n 4 cg [--lifetime blocking|nonblocking|persistent] MATRIX.mtx
 *
 * Each iteration exchanges the halo of the search direction between neighbours and sums twice over all
 * ranks, by calls of the chosen lifetime. Rank 0 compares the result with a serial solve; the exit status is
 * 1 if they differ.
 */
#include "cg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far the solution may be from that of the serial solve, relative to its norm. */
static const double AGREEMENT = 1e-6;

void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("cg: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count > 0 ? count : 1, bytes);
    if (memory == NULL)
        fail("no memory for %zu x %zu bytes", count, bytes);
    return memory;
}

/* More iterations than any matrix should need that is positive definite. */
static int limit(const struct matrix *matrix) { return 10 * matrix->rows + 100; }

/* The pieces of all ranks, on rank 0. */
static double *collect(const struct share *share, const double *piece, int rows, int rank, int size) {
    if (rank != 0) {
        MPI_Send(piece, share->rows, MPI_DOUBLE, 0, TAG_PIECE, MPI_COMM_WORLD);
        return NULL;
    }
    double *whole = allocate((size_t)rows, sizeof(double));
    memcpy(whole, piece, (size_t)share->rows * sizeof(double));
    for (int other = 1; other < size; other++) {
        int first = first_row(rows, other, size), end = first_row(rows, other + 1, size);
        MPI_Recv(whole + first, end - first, MPI_DOUBLE, other, TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return whole;
}

/* Solves the whole system on this rank alone, and tells whether `x` is that solution. */
static int compare_with_serial(const struct matrix *matrix, const double *x) {
    struct share whole = new_share(matrix, 0, 1);
    struct solution serial = solve(&whole, NULL, limit(matrix));
    double distance = 0.0, norm = 0.0;
    for (int i = 0; i < matrix->rows; i++) {
        distance += (x[i] - serial.x[i]) * (x[i] - serial.x[i]);
        norm += serial.x[i] * serial.x[i];
    }
    double difference = sqrt(distance / norm);
    int right = difference <= AGREEMENT;
    printf("serial: %d iterations; relative difference %.2e: %s\n", serial.iterations, difference,
           right ? "ok" : "WRONG");
    free(serial.x);
    free_share(&whole);
    return right;
}

/* Solves, and tells whether the result is right. */
static int run(const char *path, enum lifetime lifetime) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct matrix matrix = {0};
    if (rank == 0)
        matrix = read_matrix(path);
    bcast_matrix(&matrix, rank);
    struct share share = new_share(&matrix, rank, size);
    struct exchange exchange;
    open_exchange(&exchange, &share, lifetime);
    struct solution solution = solve(&share, &exchange, limit(&matrix));
    close_exchange(&exchange);
    MPI_Allreduce(MPI_IN_PLACE, &solution.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    double *x = collect(&share, solution.x, matrix.rows, rank, size);
    int right = 1;
    if (rank == 0) {
        long nonzeros = matrix.starts[matrix.rows];
        int divisor = solution.iterations > 0 ? solution.iterations : 1;
        double per_iteration_us = solution.seconds / divisor * 1e6;
        printf("%s: %d rows, %ld nonzeros; %d ranks, %s\n", path, matrix.rows, nonzeros, size,
               LIFETIMES[lifetime]);
        printf("%d iterations, relative residual %.2e, %.2f us per iteration\n", solution.iterations,
               solution.residual, per_iteration_us);
        right = compare_with_serial(&matrix, x) && solution.residual <= TOLERANCE;
        fflush(stdout);
    }
    MPI_Bcast(&right, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(x);
    free(solution.x);
    free_share(&share);
    free_matrix(&matrix);
    return right;
}

static int usage(void) {
    fputs("usage: cg [--lifetime blocking|nonblocking|persistent] MATRIX.mtx\n", stderr);
    return 2;
}

int main(int argc, char **argv) {
    const char *path = NULL;
    int lifetime = PERSISTENT;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--lifetime") == 0 && i + 1 < argc) {
            const char *name = argv[++i];
            for (lifetime = BLOCKING; lifetime <= PERSISTENT && strcmp(name, LIFETIMES[lifetime]) != 0;)
                lifetime++;
            if (lifetime > PERSISTENT)
                return usage();
        } else if (path == NULL && argv[i][0] != '-') {
            path = argv[i];
        } else {
            return usage();
        }
    }
    if (path == NULL)
        return usage();
    MPI_Init(NULL, NULL);
    int right = run(path, (enum lifetime)lifetime);
    MPI_Finalize();
    return right ? 0 : 1;
}
