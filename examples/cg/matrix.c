/* Sparse matrices, and reading symmetric ones from Matrix Market files. */
#include "cg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024 };

struct matrix new_matrix(int rows, long nonzeros) {
    return (struct matrix){
        .rows = rows,
        .starts = allocate((size_t)rows + 1, sizeof(long)),
        .columns = allocate((size_t)nonzeros, sizeof(int)),
        .values = allocate((size_t)nonzeros, sizeof(double)),
    };
}

void free_matrix(struct matrix *matrix) {
    free(matrix->starts);
    free(matrix->columns);
    free(matrix->values);
}

void add_product(const struct matrix *matrix, const double *x, double *y) {
    for (int row = 0; row < matrix->rows; row++) {
        double sum = 0.0;
        for (long at = matrix->starts[row]; at < matrix->starts[row + 1]; at++)
            sum += matrix->values[at] * x[matrix->columns[at]];
        y[row] += sum;
    }
}

/* The next line that says something; its number is counted. */
static int next_line(FILE *file, char *line, int *number) {
    while (fgets(line, LINE_BYTES, file) != NULL) {
        ++*number;
        if (*number == 1 || (line[0] != '%' && line[strspn(line, " \t\r\n")] != '\0'))
            return 1;
    }
    return 0;
}

static void check_banner(const char *path, char *banner) {
    static const char *const WORDS[] = {"%%matrixmarket", "matrix", "coordinate", "real", "symmetric"};
    for (char *letter = banner; *letter != '\0'; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    char *word = strtok(banner, " \t\r\n");
    for (int i = 0; i < 5; i++, word = strtok(NULL, " \t\r\n"))
        if (word == NULL || strcmp(word, WORDS[i]) != 0)
            fail("%s: not a symmetric real matrix in coordinates", path);
}

/* The whole matrix of `count` entries of a lower triangle. */
static struct matrix from_triangle(int rows, long count, const int *row, const int *column,
                                   const double *value) {
    long nonzeros = 0;
    for (long i = 0; i < count; i++)
        nonzeros += row[i] == column[i] ? 1 : 2;
    struct matrix matrix = new_matrix(rows, nonzeros);
    for (long i = 0; i < count; i++) {
        matrix.starts[row[i] + 1]++;
        if (row[i] != column[i])
            matrix.starts[column[i] + 1]++;
    }
    for (int i = 0; i < rows; i++)
        matrix.starts[i + 1] += matrix.starts[i];
    long *end = allocate((size_t)rows, sizeof(long));
    memcpy(end, matrix.starts, (size_t)rows * sizeof(long));
    for (long i = 0; i < count; i++) {
        long at = end[row[i]]++;
        matrix.columns[at] = column[i];
        matrix.values[at] = value[i];
        if (row[i] != column[i]) {
            at = end[column[i]]++;
            matrix.columns[at] = row[i];
            matrix.values[at] = value[i];
        }
    }
    free(end);
    return matrix;
}

/* Reads a Matrix Market file that holds the lower triangle; the result holds both. */
struct matrix read_matrix(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail("%s cannot be opened", path);
    char line[LINE_BYTES], rest;
    int number = 0, rows, columns;
    long entries;
    if (!next_line(file, line, &number))
        fail("%s: the file is empty", path);
    check_banner(path, line);
    if (!next_line(file, line, &number) ||
        sscanf(line, "%d %d %ld %c", &rows, &columns, &entries, &rest) != 3)
        fail("%s:%d: the sizes are missing", path, number);
    if (rows != columns || rows < 1 || entries < 0)
        fail("%s:%d: %d rows, %d columns, %ld entries", path, number, rows, columns, entries);
    int *row = allocate((size_t)entries, sizeof(int)), *column = allocate((size_t)entries, sizeof(int));
    double *value = allocate((size_t)entries, sizeof(double));
    for (long i = 0; i < entries; i++) {
        if (!next_line(file, line, &number))
            fail("%s: %ld entries are announced, %ld follow", path, entries, i);
        if (sscanf(line, "%d %d %lf %c", &row[i], &column[i], &value[i], &rest) != 3)
            fail("%s:%d: malformed: %s", path, number, line);
        if (row[i] < 1 || row[i] > rows || column[i] < 1 || column[i] > row[i])
            fail("%s:%d: (%d, %d) is not in the lower triangle of %d rows", path, number, row[i], column[i],
                 rows);
        row[i]--;
        column[i]--;
    }
    if (next_line(file, line, &number))
        fail("%s:%d: only %ld entries are announced", path, number, entries);
    fclose(file);
    struct matrix matrix = from_triangle(rows, entries, row, column, value);
    free(row);
    free(column);
    free(value);
    return matrix;
}

/* Gives everybody the matrix of rank 0. */
void bcast_matrix(struct matrix *matrix, int rank) {
    long sizes[2] = {matrix->rows, rank == 0 ? matrix->starts[matrix->rows] : 0};
    MPI_Bcast(sizes, 2, MPI_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0)
        *matrix = new_matrix((int)sizes[0], sizes[1]);
    MPI_Bcast(matrix->starts, (int)sizes[0] + 1, MPI_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast_c(matrix->columns, sizes[1], MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast_c(matrix->values, sizes[1], MPI_DOUBLE, 0, MPI_COMM_WORLD);
}
