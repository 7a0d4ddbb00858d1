//! Conjugate gradients with the diagonal as preconditioner.

use oxmpi::Result;

use crate::exchange::Exchange;
use crate::share::Share;

/// What the solver has found.
pub struct Solution {
    /// The values of this rank's rows.
    pub x: Vec<f64>,
    /// How many iterations it took.
    pub iterations: usize,
    /// Norm of the residual, relative to that of the right-hand side.
    pub residual: f64,
    /// How long the iterations took.
    pub seconds: f64,
}

/// Solves `A x = b` for symmetric positive definite `A`, until the residual is `tolerance` times `b` or after
/// `limit` iterations.
///
/// # Errors
/// Those of the communication.
pub fn solve(
    share: &Share,
    b: &[f64],
    exchange: &mut impl Exchange,
    tolerance: f64,
    limit: usize,
) -> Result<Solution> {
    let rows = share.rows.len();
    let diagonal: Vec<f64> = (0..rows).map(|row| share.inner.diagonal(row)).collect();
    let mut x = vec![0.0; rows];
    let mut residual = b.to_vec();
    let mut direction = vec![0.0; rows];
    let mut product = vec![0.0; rows];
    let mut halo = vec![0.0; share.halo()];
    let begin = oxmpi::wall_time();
    let [initial_norm, mut weighted] = norms(&residual, &diagonal, exchange)?;
    let (mut norm, mut last_weighted, mut iterations) = (initial_norm, f64::INFINITY, 0);
    while norm > initial_norm * tolerance * tolerance && iterations < limit {
        let beta = weighted / last_weighted;
        for ((direction, residual), diagonal) in direction.iter_mut().zip(&residual).zip(&diagonal) {
            *direction = residual / diagonal + beta * *direction;
        }
        product.fill(0.0);
        exchange.halo(&direction, &mut halo, || share.inner.add_product(&direction, &mut product))?;
        share.outer.add_product(&halo, &mut product);
        let [curvature, _] = exchange.sum([dot(&direction, &product), 0.0])?;
        let step = weighted / curvature;
        add_scaled(&mut x, step, &direction);
        add_scaled(&mut residual, -step, &product);
        last_weighted = weighted;
        [norm, weighted] = norms(&residual, &diagonal, exchange)?;
        iterations += 1;
    }
    let residual = if initial_norm > 0.0 { (norm / initial_norm).sqrt() } else { 0.0 };
    Ok(Solution { x, iterations, residual, seconds: oxmpi::wall_time() - begin })
}

/// The squares of the residual's norms: the plain one, and that weighted by the preconditioner.
fn norms(residual: &[f64], diagonal: &[f64], exchange: &mut impl Exchange) -> Result<[f64; 2]> {
    let weighted = residual.iter().zip(diagonal).map(|(residual, diagonal)| residual * residual / diagonal);
    exchange.sum([dot(residual, residual), weighted.sum()])
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(y: &mut [f64], factor: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Alone;
    use crate::matrix::Matrix;

    #[test]
    fn a_small_system_is_solved_in_as_many_iterations_as_it_has_rows() {
        let rows = [vec![(0, 4.0), (1, 1.0)], vec![(0, 1.0), (1, 3.0)]];
        let share = Share::new(&rows.into_iter().collect::<Matrix>(), 0, 1);
        let solution = solve(&share, &[1.0, 2.0], &mut Alone, 1e-12, 10).expect("nobody else can fail");
        assert_eq!(solution.iterations, 2);
        assert!((solution.x[0] - 1.0 / 11.0).abs() < 1e-12 && (solution.x[1] - 7.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn a_right_hand_side_of_zeros_needs_no_iteration() {
        let share = Share::new(&[vec![(0, 1.0)]].into_iter().collect::<Matrix>(), 0, 1);
        let solution = solve(&share, &[0.0], &mut Alone, 1e-12, 10).expect("nobody else can fail");
        assert_eq!((solution.iterations, solution.residual), (0, 0.0));
    }
}
