//! Sparse matrices, and reading symmetric ones from Matrix Market files.

use std::str::FromStr;

use oxmpi::{Communicator, Result};

/// A sparse matrix by compressed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// Where each row begins in `columns` and `values`; one more at the end.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

/// A matrix with so many rows, as rows of pairs of column and value.
impl FromIterator<Vec<(usize, f64)>> for Matrix {
    fn from_iter<R: IntoIterator<Item = Vec<(usize, f64)>>>(rows: R) -> Self {
        let mut matrix = Self { starts: vec![0], ..Self::default() };
        for row in rows {
            matrix.columns.extend(row.iter().map(|&(column, _)| column));
            matrix.values.extend(row.iter().map(|&(_, value)| value));
            matrix.starts.push(matrix.columns.len());
        }
        matrix
    }
}

impl Matrix {
    /// Reads a Matrix Market file of the kind `matrix coordinate real symmetric`, which holds the lower triangle;
    /// the result holds both.
    ///
    /// # Errors
    /// What is wrong with the file, and where.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let mut lines = text
            .lines()
            .zip(1..)
            .filter(|(line, number)| *number == 1 || !(line.starts_with('%') || line.trim().is_empty()));
        let (banner, _) = lines.next().ok_or("the file is empty")?;
        let kind = banner.to_ascii_lowercase();
        if !kind.split_whitespace().eq(["%%matrixmarket", "matrix", "coordinate", "real", "symmetric"]) {
            return Err(format!("line 1: not a symmetric real matrix in coordinates: {banner}"));
        }
        let (sizes, number) = lines.next().ok_or("the sizes are missing")?;
        let [rows, columns, entries] = fields(sizes, number)?;
        if rows != columns || rows == 0 {
            return Err(format!("line {number}: {rows} rows and {columns} columns"));
        }
        let mut matrix = vec![Vec::new(); rows];
        let mut found = 0;
        for (line, number) in lines {
            let (row, column, value) = entry(line, number, rows)?;
            matrix[row].push((column, value));
            if row != column {
                matrix[column].push((row, value));
            }
            found += 1;
        }
        if found != entries {
            return Err(format!("{entries} entries are announced, {found} follow"));
        }
        matrix.iter_mut().for_each(|row| row.sort_unstable_by_key(|&(column, _)| column));
        Ok(matrix.into_iter().collect())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of stored values.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The columns and values of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// The value on the diagonal of a row; 0 if there is none.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.row(row).find(|&(column, _)| column == row).map_or(0.0, |(_, value)| value)
    }

    /// `y += self x`.
    pub fn add_product(&self, x: &[f64], y: &mut [f64]) {
        for (row, y) in y.iter_mut().enumerate() {
            *y += self.row(row).map(|(column, value)| value * x[column]).sum::<f64>();
        }
    }

    /// Gives everybody the matrix of rank 0.
    ///
    /// # Errors
    /// Those of a broadcast.
    pub fn bcast(&mut self, world: &Communicator) -> Result<()> {
        let mut lengths = [self.starts.len(), self.values.len()];
        world.bcast(&mut lengths, 0)?;
        self.starts.resize(lengths[0], 0);
        self.columns.resize(lengths[1], 0);
        self.values.resize(lengths[1], 0.0);
        world.bcast(&mut self.starts, 0)?;
        world.bcast(&mut self.columns, 0)?;
        world.bcast(&mut self.values, 0)
    }
}

/// An entry `row column value`, its indices counted from 0.
fn entry(line: &str, number: usize, rows: usize) -> std::result::Result<(usize, usize, f64), String> {
    let (indices, value) =
        line.trim().rsplit_once(char::is_whitespace).ok_or_else(|| malformed(line, number))?;
    let [row, column] = fields(indices, number)?;
    let [value] = fields(value, number)?;
    if !(1..=rows).contains(&row) || !(1..=row).contains(&column) {
        return Err(format!("line {number}: ({row}, {column}) is not in the lower triangle of {rows} rows"));
    }
    Ok((row - 1, column - 1, value))
}

/// So many numbers, and nothing else.
fn fields<T: FromStr, const N: usize>(line: &str, number: usize) -> std::result::Result<[T; N], String> {
    let parsed: Option<Vec<T>> = line.split_whitespace().map(|field| field.parse().ok()).collect();
    parsed.and_then(|numbers| numbers.try_into().ok()).ok_or_else(|| malformed(line, number))
}

fn malformed(line: &str, number: usize) -> String {
    format!("line {number}: malformed: {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const BANNER: &str = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n";

    fn parse(rest: &str) -> std::result::Result<Matrix, String> {
        Matrix::parse(&format!("{BANNER}{rest}"))
    }

    #[test]
    fn the_upper_triangle_is_filled_in() {
        let matrix = parse("2 2 3\n1 1 4.0\n2 1 -1e0\n2 2 3\n").expect("a good file");
        let expected = [vec![(0, 4.0), (1, -1.0)], vec![(0, -1.0), (1, 3.0)]];
        assert_eq!(matrix, expected.into_iter().collect());
    }

    #[test]
    fn a_damaged_file_is_refused_with_its_line() {
        for (rest, complaint) in [
            ("2 3 0\n", "line 3: 2 rows and 3 columns"),
            ("0 0 0\n", "line 3: 0 rows and 0 columns"),
            ("2 2 1\n1 2 5.0\n", "line 4: (1, 2) is not in the lower triangle of 2 rows"),
            ("2 2 1\n2 1 x\n", "line 4: malformed: x"),
            ("2 2 2\n2 1 5.0\n", "2 entries are announced, 1 follow"),
        ] {
            assert_eq!(parse(rest), Err(complaint.to_owned()));
        }
        assert!(Matrix::parse("%%MatrixMarket matrix coordinate complex symmetric\n").is_err());
    }
}
