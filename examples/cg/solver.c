/* Conjugate gradients with the diagonal as preconditioner. */
#include "cg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double dot(const double *a, const double *b, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_scaled(double *y, double factor, const double *x, int count) {
    for (int i = 0; i < count; i++)
        y[i] += factor * x[i];
}

/* product = A direction */
static void multiply(const struct share *share, struct exchange *exchange, const double *direction,
                     double *product) {
    memset(product, 0, (size_t)share->rows * sizeof *product);
    if (exchange == NULL) {
        add_product(&share->own, direction, product);
        return;
    }
    begin_halo(exchange, direction);
    add_product(&share->own, direction, product);
    end_halo(exchange);
    add_product(&share->other, exchange->halo, product);
}

static void take_diagonal(const struct matrix *own, double *diagonal) {
    for (int row = 0; row < own->rows; row++)
        for (long at = own->starts[row]; at < own->starts[row + 1]; at++)
            if (own->columns[at] == row)
                diagonal[row] = own->values[at];
}

/* The squares of the residual's norms: the plain one, and that weighted by the preconditioner. */
static void norms(const double *residual, const double *diagonal, int rows, struct exchange *exchange,
                  double *plain, double *weighted) {
    *plain = *weighted = 0.0;
    for (int i = 0; i < rows; i++) {
        *plain += residual[i] * residual[i];
        *weighted += residual[i] * residual[i] / diagonal[i];
    }
    sum(exchange, plain, weighted);
}

/* Conjugate gradients with the diagonal as preconditioner, for a right-hand side of ones. */
struct solution solve(const struct share *share, struct exchange *exchange, int limit) {
    int rows = share->rows;
    size_t bytes = sizeof(double);
    double *x = allocate((size_t)rows, bytes), *residual = allocate((size_t)rows, bytes);
    double *direction = allocate((size_t)rows, bytes), *product = allocate((size_t)rows, bytes);
    double *diagonal = allocate((size_t)rows, bytes);
    take_diagonal(&share->own, diagonal);
    for (int i = 0; i < rows; i++)
        residual[i] = 1.0;
    double begin = MPI_Wtime(), norm, weighted, last_weighted = INFINITY;
    norms(residual, diagonal, rows, exchange, &norm, &weighted);
    double initial_norm = norm;
    int iterations = 0;
    for (; norm > initial_norm * TOLERANCE * TOLERANCE && iterations < limit; iterations++) {
        double beta = weighted / last_weighted;
        for (int i = 0; i < rows; i++)
            direction[i] = residual[i] / diagonal[i] + beta * direction[i];
        multiply(share, exchange, direction, product);
        double curvature = dot(direction, product, rows), unused = 0.0;
        sum(exchange, &curvature, &unused);
        double step = weighted / curvature;
        add_scaled(x, step, direction, rows);
        add_scaled(residual, -step, product, rows);
        last_weighted = weighted;
        norms(residual, diagonal, rows, exchange, &norm, &weighted);
    }
    struct solution solution = {x, iterations, initial_norm > 0.0 ? sqrt(norm / initial_norm) : 0.0,
                                MPI_Wtime() - begin};
    free(residual);
    free(direction);
    free(product);
    free(diagonal);
    return solution;
}
