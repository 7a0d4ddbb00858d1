//! Everything that ranks of one node share: the segment, and the lock-free structures inside it.
//!
//! One anonymous segment per job ([`Job`], made by the launcher or by a singleton) holds, in this order, in pages that
//! are mapped as they are used ([`Segment`]):
//!
//! | part | what | written by |
//! |---|---|---|
//! | header | sizes | its maker |
//! | state pages | a page per rank: who it is ([`Claim`]) and what it is doing, for reports and the launcher | that rank |
//! | sleepers | who sleeps: a bit per rank, and a summary | these ranks; for the dead the launcher |
//! | doorbells | a line per rank: the futex it sleeps on | that rank and its wakers |
//! | doorways | one per rank: rings that processes of other jobs have made to it ([`Doorway`]) | these processes |
//! | knocks | a bit per pair of ranks: who wants to be looked at ([`Knocks`]) | the one that knocks, and the one that looks |
//! | rings | a word per pair of ranks: where the sender's first [`ring`] lies ([`Rings`]) | the sender |
//! | first lines | a few lines per rank, for the first communicator | that rank |
//! | arenas | a range per rank: lines, slots and departures of its collectives, rings to other processes | that rank |
//! | rows | places that all ranks have side by side, for lines and departures of communicators ([`Rows`]) | each rank its own |
//!
//! Nothing in it is an address; whatever a peer wrote is checked against the segment's bounds before use.
//! What is mapped stays until the process ends, so views of it are `'static`; another job's segment that is given up
//! ([`Guest`]) shows zeroes, and then perhaps a third job's.

mod arena;
mod aside;
mod calls;
mod cgroup;
mod cpus;
mod departure;
mod doorbell;
mod doorway;
mod end;
pub mod fault;
mod guest;
mod invitation;
mod job;
mod knocks;
mod layout;
mod lifeline;
mod line;
mod machine;
mod membarrier;
mod partitions;
pub mod ring;
mod rings;
mod rows;
mod seat;
mod segment;
mod single_copy;
mod sleepers;
mod state;
mod sync;

pub use arena::{Arena, Block};
pub use aside::ThreadAside;
#[cfg(not(loom))]
pub use calls::CALL_LINES;
pub use calls::{CALLS, Calls, Signatures};
pub use cpus::{Cpu, allowed_cpus};
pub use departure::Departure;
pub use doorbell::Posts;
pub use doorway::{Announcement, Doorway};
pub use end::{at_exit, end_process};
pub use guest::Guest;
pub use invitation::{Invitation, take_inherited};
pub use job::{Job, Member};
pub use knocks::Knocks;
pub use layout::FIRST_LINES;
pub use line::{INLINE_BYTES, Line};
pub use machine::{
    ProcessorQueue, has_narrow_address_space, node_memory_bytes, now_ns, turn_bytes, usable_cpus, yield_now,
};
pub use partitions::{Arrivals, Marked, Marks, Taken};
pub use rings::{RingPlace, Rings};
pub use rows::Rows;
pub use seat::{Claim, Ticket};
pub use segment::Segment;
pub use single_copy::SingleCopy;
pub use sleepers::{Asleep, Bed};
pub use state::{Phase, StatePage, Ties, shown_settings};
