//! The fabric that is a real network: libfabric's reliable datagrams, whatever its providers make them of.
//!
//! `libfabric.so.1` is loaded when an endpoint is opened, and not before: a job on one node never looks for it. Of
//! the library four functions are called by name; all else are tables of functions in its objects, declared in
//! [`abi`] and compared with its headers by a test.
//!
//! | here | how |
//! |---|---|
//! | which network | [`Libfabric::open`]: `OXMPI_FABRIC`, libfabric's own `FI_PROVIDER`, or the fastest kind |
//! | messages | `FI_MSG`, untagged: whom a message is for is decided by matching that knows shared memory, too |
//! | remote memory | `FI_RMA`, without which all goes by messages; where no data can come with a write, it is read alone |
//! | what is told | of sends, and of writes in a network that keeps order, that they have left; of other writes that they are at the peer (`FI_DELIVERY_COMPLETE`) |
//! | `Order::After` | for nothing, where the provider keeps order unasked; else it waits here until all before is told |
//! | memory here | registered for each operation if the provider wants that; providers that do have a cache of their own, which sees what is unmapped. What is refused is copied: see `local` |
//! | threads | none: progress is made when completions are read |
//! | errors of sends, reads, writes | the peer is gone, or has refused what is remote: see `endpoint` |
//! | peers that do not answer | are there or not as the system says, where it makes the connections: see `silence` and `lifeline` |
//! | want of memory | is waited for, and then an error: see `lack` |
//!
//! What is on its way is not authenticated by libfabric: who can send packets to a rank can pretend to be a peer.
//!
//! MPI-5.0 says nothing of networks. libfabric: fi_endpoint(3), fi_msg(3), fi_rma(3), fi_cq(3), fi_mr(3).

pub mod abi;
mod choice;
mod complaints;
mod endpoint;
mod lack;
mod library;
mod lifeline;
mod local;
mod objects;
mod operations;
mod ordering;
mod peer;
mod registrations;
mod signals;
mod silence;

pub use endpoint::Libfabric;
