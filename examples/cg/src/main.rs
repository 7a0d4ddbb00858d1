//! Conjugate gradients on a sparse matrix whose rows are distributed over the ranks.
//!
//! `mpiexec -n 4 cg [--lifetime blocking|nonblocking|persistent] MATRIX.mtx`
//!
//! Each iteration exchanges the *halo* of the search direction between neighbours and sums twice over all
//! ranks, by calls of the chosen lifetime. Rank 0 compares the result with a serial solve; the exit status is
//! 1 if they differ.

mod exchange;
mod matrix;
mod share;
mod solver;

use std::process::ExitCode;
use std::{env, fs, slice};

use oxmpi::{Communicator, Op, Result};

use exchange::{Alone, BlockingExchange, NonblockingExchange, PersistentExchange};
use matrix::Matrix;
use share::{Share, block};
use solver::{Solution, solve};

/// How small the residual must become, relative to the right-hand side.
const TOLERANCE: f64 = 1e-10;
/// How far the solution may be from that of the serial solve, relative to its norm.
const AGREEMENT: f64 = 1e-6;
/// Tag of the pieces of the solution.
const PIECE: i32 = 1;

/// The lifetime of the calls in an iteration.
#[derive(Clone, Copy, Debug)]
enum Lifetime {
    Blocking,
    Nonblocking,
    Persistent,
}

struct Arguments {
    lifetime: Lifetime,
    path: String,
}

fn main() -> ExitCode {
    let arguments = match parse_arguments(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(complaint) => {
            eprintln!("cg: {complaint}\nusage: cg [--lifetime blocking|nonblocking|persistent] MATRIX.mtx");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cg: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse_arguments(mut arguments: impl Iterator<Item = String>) -> std::result::Result<Arguments, String> {
    let (mut lifetime, mut path) = (Lifetime::Persistent, None);
    while let Some(argument) = arguments.next() {
        if argument == "--lifetime" {
            lifetime = match arguments.next().as_deref() {
                Some("blocking") => Lifetime::Blocking,
                Some("nonblocking") => Lifetime::Nonblocking,
                Some("persistent") => Lifetime::Persistent,
                other => return Err(format!("no such lifetime: {}", other.unwrap_or("none is given"))),
            };
        } else if path.replace(argument).is_some() {
            return Err("more than one matrix is given".to_owned());
        }
    }
    Ok(Arguments { lifetime, path: path.ok_or("no matrix is given")? })
}

/// Solves, and tells whether the result is right.
fn run(arguments: &Arguments) -> Result<bool> {
    let env = oxmpi::init()?;
    let world = env.world();
    let mut matrix = Matrix::default();
    if world.rank() == 0 {
        let text = fs::read_to_string(&arguments.path).map_err(|error| error.to_string());
        matrix = text.and_then(|text| Matrix::parse(&text)).unwrap_or_else(|complaint| {
            eprintln!("cg: {}: {complaint}", arguments.path);
            env.abort(1)
        });
    }
    matrix.bcast(&world)?;
    let solution = solve_together(&world, &matrix, arguments.lifetime)?;
    let x = collect(&world, &solution.x, matrix.rows())?;
    let mut right = [u8::from(true)];
    if world.rank() == 0 {
        let nonzeros = matrix.nonzeros();
        println!(
            "{}: {} rows, {nonzeros} nonzeros; {} ranks, {:?}",
            arguments.path,
            matrix.rows(),
            world.size(),
            arguments.lifetime
        );
        let per_iteration_us = solution.seconds / solution.iterations.max(1) as f64 * 1e6;
        println!(
            "{} iterations, relative residual {:.2e}, {per_iteration_us:.2} us per iteration",
            solution.iterations, solution.residual
        );
        right[0] = u8::from(compare_with_serial(&matrix, &x)? && solution.residual <= TOLERANCE);
    }
    world.bcast(&mut right, 0)?;
    Ok(right == [u8::from(true)])
}

/// Solves with all ranks; the time is that of the slowest.
fn solve_together(world: &Communicator, matrix: &Matrix, lifetime: Lifetime) -> Result<Solution> {
    let share = Share::new(matrix, world.rank(), world.size());
    let (b, limit) = (vec![1.0; share.rows.len()], limit(matrix));
    let mut solution = match lifetime {
        Lifetime::Blocking => solve(&share, &b, &mut BlockingExchange::new(world, &share), TOLERANCE, limit),
        Lifetime::Nonblocking => {
            solve(&share, &b, &mut NonblockingExchange::new(world, &share), TOLERANCE, limit)
        }
        Lifetime::Persistent => {
            solve(&share, &b, &mut PersistentExchange::new(world, &share)?, TOLERANCE, limit)
        }
    }?;
    world.allreduce_in_place(slice::from_mut(&mut solution.seconds), &Op::MAX)?;
    Ok(solution)
}

/// More iterations than any matrix should need that is positive definite.
fn limit(matrix: &Matrix) -> usize {
    10 * matrix.rows() + 100
}

/// The pieces of all ranks, on rank 0.
fn collect(world: &Communicator, piece: &[f64], rows: usize) -> Result<Vec<f64>> {
    if world.rank() != 0 {
        world.send(piece, 0, PIECE)?;
        return Ok(Vec::new());
    }
    let mut whole = vec![0.0; rows];
    whole[block(rows, 0, world.size())].copy_from_slice(piece);
    for rank in 1..world.size() {
        world.recv(&mut whole[block(rows, rank, world.size())], rank, PIECE)?;
    }
    Ok(whole)
}

/// Solves the whole system on this rank alone, and tells whether `x` is that solution.
fn compare_with_serial(matrix: &Matrix, x: &[f64]) -> Result<bool> {
    let b = vec![1.0; matrix.rows()];
    let serial = solve(&Share::new(matrix, 0, 1), &b, &mut Alone, TOLERANCE, limit(matrix))?;
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let distance = norm(&mut x.iter().zip(&serial.x).map(|(x, serial)| x - serial));
    let difference = distance / norm(&mut serial.x.iter().copied());
    let right = difference <= AGREEMENT;
    let verdict = if right { "ok" } else { "WRONG" };
    println!("serial: {} iterations; relative difference {difference:.2e}: {verdict}", serial.iterations);
    Ok(right)
}
