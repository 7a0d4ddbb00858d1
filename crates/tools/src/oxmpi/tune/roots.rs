//! What keeps a root busy: it posts for the other rank, or combines what comes from there.

use oxmpi::{Communicator, Op, Persistent, Result, Two};

/// The root copies a block of so many bytes and posts another.
///
/// # Errors
/// Those of MPI.
pub fn posting<'env>(ranks: &Communicator<'env>, bytes: usize) -> Result<Persistent<'env, Two<u8>>> {
    ranks.scatter_init(vec![0_u8; 2 * bytes], vec![0_u8; bytes], 0)
}

/// The root combines so many bytes of its own with as many of the other rank.
///
/// # Errors
/// Those of MPI.
pub fn combining<'env>(ranks: &Communicator<'env>, bytes: usize) -> Result<Persistent<'env, Two<f64>>> {
    let numbers = || vec![0.0; bytes / size_of::<f64>()];
    ranks.reduce_init(numbers(), numbers(), &Op::SUM, 0)
}
