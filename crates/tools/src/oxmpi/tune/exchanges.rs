//! Exchanges of two ranks: each posts, copies and pulls.

use oxmpi::{Communicator, Persistent, Two};

/// One of blocks of so many bytes.
///
/// # Errors
/// Those of MPI.
pub fn init<'env>(ranks: &Communicator<'env>, bytes: usize) -> oxmpi::Result<Persistent<'env, Two<u8>>> {
    ranks.allgather_init(vec![0_u8; bytes], vec![0_u8; 2 * bytes])
}
