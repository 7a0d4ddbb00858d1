//! How jobs of one machine, or of one launcher, find each other: brokers, ports and published names.
//!
//! | what | who listens | who asks |
//! |---|---|---|
//! | [`Broker`] of a job | its launcher, by a `Server` (feature `server`) | processes of any job |
//! | published name | the launcher of the job that has published it | [`lookup`]; on other hosts [`Broker::lookup`] |
//! | [`Meeting`] | the process that has made the memory of its node | the others there |
//! | [`Port`] | a process of MPI | [`Calling`] of another one |
//!
//! All are *abstract* Unix sockets, but for the entrance that a port has for other hosts (`entrance`): names without
//! files, which end with who holds them, however that ends. They are those of a network namespace, and anybody there
//! may try them; both sides look who the other one is, and speak only with their own user or root (`peer`). What is
//! said travels in frames ([`Link`]); requests and answers are in `wire`, which trusts no byte.
//!
//! Processes that only the job's secret tells from strangers prove to each other that they know it ([`Handshake`]).
//!
//! Nothing here waits but the short conversations of [`Broker`] and [`lookup`], which a launcher answers at once.
//! MPI-5.0: Process Initialization, Creation, and Management.
#![forbid(unsafe_code)]

mod address;
mod client;
mod entrance;
mod handshake;
mod link;
mod meeting;
mod peer;
mod port;
mod secret;
#[cfg(any(test, feature = "server"))]
mod server;
mod singleton;
mod tree;
mod wire;

pub use client::{Broker, Spawning, lookup};
pub use entrance::Calling;
pub use handshake::Handshake;
pub use link::{Link, MAX_FRAME_BYTES};
pub use meeting::{Meeting, Whereabouts};
pub use port::Port;
pub use secret::Secret;
#[cfg(any(test, feature = "server"))]
pub use server::{ClientId, Event, Interest, Server, Token};
pub use singleton::{EAGER_LIMIT, Host, send_as_ranks_do};
pub use tree::Tree;
pub use wire::{Answer, Block, Malformed, Reader, Request, Spawn, Writer};
