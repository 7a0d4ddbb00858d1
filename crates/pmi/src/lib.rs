//! How a process finds its job: who it is there, who shares its node, and small records told to each other before
//! there is any other way.
//!
//! [`join()`] looks who has started this process and gives it its seat in the memory of its node, with the
//! [`Bootstrap`] that its launcher is, where there is one to talk to.
//!
//! | launcher | bootstrap | the node's memory |
//! |---|---|---|
//! | oxmpi's `mpiexec`, one node | none: there is nothing to tell | made by the launcher |
//! | oxmpi's `mpiexec`, several nodes | its agent, by the broker of the node's part of the job | made by the agent |
//! | Hydra, Intel's, Flux, Slurm (`srun --mpi=pmi2`) | PMI-1 | made by the first of its ranks, and given over a socket to those that find it (`node`) |
//! | PRRTE, Open MPI's `mpirun`, Slurm (`srun --mpi=pmix`) | PMIx, by its own library, which is loaded | the same |
//! | one that speaks something else | none: a process that is, or may be, one of several is refused (`foreign`) | |
//! | many ranks in one process, for tests | `within` (feature) | [`Job::within`](oxmpi_shm::Job::within), a job for each node |
//!
//! *Who calls what, and when.* One thread of a process at a time. [`Bootstrap::put`], [`Bootstrap::fence`] and
//! [`Bootstrap::get`] are for starting up: they wait for the launcher, and a fence for all processes of the job, so
//! they are called in the same order everywhere and by nobody who could be waited for otherwise. A process that has
//! peers on other nodes needs one fence: the first rank of each node puts *one record*, which speaks for all of its
//! node (what the others have to say goes through the node's memory), all meet in the fence, and each gets the record
//! of a node when it first has to do with that. So what is stored and sent grows with the nodes, not with the ranks.
//! [`Bootstrap::abort`] can be called whenever the job cannot go on, [`Bootstrap::leave`] once, last. MPI-5.0:
//! Process Initialization, Creation, and Management.
#![deny(unsafe_code)]

mod ancestors;
mod foreign;
mod join;
mod mapping;
mod node;
mod own;
mod place;
mod pmi1;
mod pmix;
#[cfg(any(test, feature = "within"))]
mod within;

use std::fmt::Debug;

use oxmpi_base::Result;

pub use join::{Joined, World, join};
pub use place::{NodeMap, Place};
#[cfg(any(test, feature = "within"))]
pub use within::{Within, within};

/// What a launcher is to a process that it has started.
pub trait Bootstrap: Debug + Send {
    /// Tells the others a record. They can [get](Bootstrap::get) it when all have met in a [fence](Bootstrap::fence)
    /// after this.
    ///
    /// A key is put once in the life of a process. It has at most [`KEY_BYTES`] bytes, letters, digits, `-` and `.`; a
    /// record at most [`RECORD_BYTES`], any.
    ///
    /// # Errors
    /// `Other` if the launcher refuses it, or is gone.
    ///
    /// # Panics
    /// If key or record are not as described.
    fn put(&mut self, key: &str, record: &[u8]) -> Result<()>;

    /// Waits until all processes of the job have come here. Each must.
    ///
    /// # Errors
    /// `Other` if the launcher is gone. One that knows that a process will not come ends the job.
    fn fence(&mut self) -> Result<()>;

    /// The record that the rank `of` has put before a fence that this process has left. It may take a message to
    /// another node and back: it is for the moment in which it is needed first, and for a record that many get, the
    /// only one.
    ///
    /// # Errors
    /// `Other` if the launcher says that nobody has put it, or is gone. PMIx may wait for who has not.
    fn get(&mut self, key: &str, of: u32) -> Result<Vec<u8>>;

    /// Tells the launcher to end the job with this status, and why. The caller ends itself then: a launcher may be
    /// slow, or gone.
    fn abort(&mut self, status: u8, why: &str);

    /// Tells the launcher that this process is done with MPI: from now on its end is none of the job's. Waits for
    /// nobody.
    fn leave(&mut self);
}

/// Of a key.
pub const KEY_BYTES: usize = 32;

/// Of a record. Where the launcher takes less at once, it is told in pieces.
pub const RECORD_BYTES: usize = 64 << 10;

/// Whether a key and a record are as [`Bootstrap::put`] wants them.
///
/// # Panics
/// If not: that is a defect of the caller's.
fn check(key: &str, record: &[u8]) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
    assert!((1..=KEY_BYTES).contains(&key.len()) && key.bytes().all(is_plain), "the key {key:?}");
    assert!(record.len() <= RECORD_BYTES, "a record of {} bytes", record.len());
}
