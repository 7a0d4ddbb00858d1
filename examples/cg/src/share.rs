//! The share of one rank: some rows of the matrix, and what it must know of its neighbours' vectors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::matrix::Matrix;

/// A block of rows, with columns renumbered: those of the block itself from 0, all others that occur (the
/// *halo*) in order.
pub struct Share {
    /// The block.
    pub rows: Range<usize>,
    /// What meets values of the block itself.
    pub inner: Matrix,
    /// What meets values of the halo.
    pub outer: Matrix,
    /// Who owns the halo, in order.
    pub neighbours: Vec<Neighbour>,
}

/// A rank that owns part of the halo, and needs part of the block.
pub struct Neighbour {
    /// Which rank.
    pub rank: usize,
    /// The rows of the block that it needs, counted from the beginning of the block.
    pub needs: Vec<usize>,
    /// The part of the halo that it owns.
    pub owns: Range<usize>,
}

impl Share {
    /// The share of `rank` of `size`: about the same number of rows for all.
    pub fn new(matrix: &Matrix, rank: usize, size: usize) -> Self {
        let rows = block(matrix.rows(), rank, size);
        // The matrix is symmetric: a row that meets a column of another rank is needed there.
        let mut needs: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut halo = BTreeSet::new();
        for row in rows.clone() {
            for (column, _) in matrix.row(row).filter(|(column, _)| !rows.contains(column)) {
                needs.entry(owner(matrix.rows(), column, size)).or_default().insert(row - rows.start);
                halo.insert(column);
            }
        }
        let halo: Vec<usize> = halo.into_iter().collect();
        let place = |column: usize| halo.partition_point(|&other| other < column);
        let neighbour = |(rank, needs): (usize, BTreeSet<usize>)| {
            let block = block(matrix.rows(), rank, size);
            let owns = place(block.start)..place(block.end);
            Neighbour { rank, needs: needs.into_iter().collect(), owns }
        };
        let inner = rows.clone().map(|row| {
            let inside = matrix.row(row).filter(|(column, _)| rows.contains(column));
            inside.map(|(column, value)| (column - rows.start, value)).collect()
        });
        let outer = rows.clone().map(|row| {
            let outside = matrix.row(row).filter(|(column, _)| !rows.contains(column));
            outside.map(|(column, value)| (place(column), value)).collect()
        });
        let (inner, outer) = (inner.collect(), outer.collect());
        Self { rows, inner, outer, neighbours: needs.into_iter().map(neighbour).collect() }
    }

    /// Number of values in the halo.
    pub fn halo(&self) -> usize {
        self.neighbours.last().map_or(0, |last| last.owns.end)
    }
}

/// The rows of `rank`.
pub fn block(rows: usize, rank: usize, size: usize) -> Range<usize> {
    rows * rank / size..rows * (rank + 1) / size
}

/// The rank that has a row.
fn owner(rows: usize, row: usize, size: usize) -> usize {
    ((row + 1) * size - 1) / rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_the_owner_whose_block_it_is_in() {
        for (rows, size) in [(1, 1), (1, 8), (5, 3), (8, 8), (7, 8), (494, 7)] {
            for row in 0..rows {
                assert!(block(rows, owner(rows, row, size), size).contains(&row), "row {row} of {rows}");
            }
        }
    }

    #[test]
    fn what_one_rank_needs_another_sends() {
        let ring = |row: usize| vec![((row + 4) % 5, -1.0), (row, 4.0), ((row + 1) % 5, -1.0)];
        let matrix: Matrix = (0..5).map(ring).collect();
        for size in 1..=8 {
            let shares: Vec<Share> = (0..size).map(|rank| Share::new(&matrix, rank, size)).collect();
            for (rank, share) in shares.iter().enumerate() {
                for neighbour in &share.neighbours {
                    let other = &shares[neighbour.rank];
                    let back = other.neighbours.iter().find(|back| back.rank == rank);
                    assert_eq!(back.map(|back| back.owns.len()), Some(neighbour.needs.len()));
                }
            }
        }
    }
}
