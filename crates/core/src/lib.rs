//! What MPI means: communicators, messages, requests, collectives, and when a call may return.
//!
//! Fronts (the C library, the Rust crate) check and translate their arguments and call [`Process`]. Core knows
//! objects, never handles, and shares them by `Arc`.
//!
//! | module | what |
//! |---|---|
//! | [`process`](Process) | one MPI process: joining the job, leaving it |
//! | `arrival` | the time that others get to join it too |
//! | `joining`, `launcher` | how the job is found; launchers that are not ours, noticed |
//! | `wait` | the one place where anything waits, and how |
//! | `group`, `comm` | groups and communicators, and how these are made together |
//! | `jobs` | connecting with other jobs, and starting them |
//! | `lines` | the lines that ranks offer for a channel which they open together |
//! | `topology` | which members of a communicator are neighbours |
//! | `hardware` | the parts of the machine that processes are bound to |
//! | `p2p`, `request` | messages, and operations that are under way |
//! | `settings` | what the user has set, alike for all ranks |
//! | `send_buffer` | buffered sends, and the buffers attached for them |
//! | `coll` | one description per collective, and its three lifetimes |
#![forbid(unsafe_code)]

mod arrival;
mod clock;
pub mod coll;
mod comm;
mod group;
mod hardware;
mod jobs;
mod joining;
mod launcher;
mod lines;
mod p2p;
mod policy;
mod process;
mod request;
mod send_buffer;
mod settings;
mod topology;
mod wait;

pub use clock::{WALL_TIME_IS_GLOBAL, processor_name, wall_tick, wall_time};
pub use coll::Operation;
pub use comm::{Communicator, Party, RemoteLeader, SplitType};
pub use group::{Comparison, Group};
pub use hardware::{Confinement, ResourceType};
pub use oxmpi_broker::Block as Program;
pub use p2p::{Dest, MessageKey, NULL_SOURCE, SendMode, Source, TagPattern};
pub use process::{Phase, Process, State, ThreadLevel, end_with};
pub use request::{AnyTest, Completion, GeneralizedCallbacks, Request, RequestKey};
pub use send_buffer::{AttachedBuffer, BUFFERED_OVERHEAD_BYTES, BufferOwner};
pub use settings::Settings;
pub use topology::{Axis, Cartesian, DistGraph, Edge, Edges, Graph, Subgrid, Topology, balanced_dims};
