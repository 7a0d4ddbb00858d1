//! Blocks of two ranks that are gathered by both, or by one.

use oxmpi::{Communicator, Persistent, Result, Two};

/// Each posts one of so many bytes, copies it and pulls that of the other.
///
/// # Errors
/// Those of MPI.
pub fn by_both<'env>(ranks: &Communicator<'env>, bytes: usize) -> Result<Persistent<'env, Two<u8>>> {
    ranks.allgather_init(vec![0_u8; bytes], vec![0_u8; 2 * bytes])
}

/// The first one copies its own, and pulls that of the other.
///
/// # Errors
/// Those of MPI.
pub fn by_one<'env>(ranks: &Communicator<'env>, bytes: usize) -> Result<Persistent<'env, Two<u8>>> {
    ranks.gather_init(vec![0_u8; bytes], vec![0_u8; 2 * bytes], 0)
}
