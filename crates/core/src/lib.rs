//! What MPI means: communicators, messages, requests, collectives, and when a call may return.
//!
//! Fronts (the C library, the Rust crate) check and translate their arguments and call [`Process`]. Core knows
//! objects, never handles, and shares them by `Arc`.
//!
//! What a process consists of knows nothing of it; [`process`](Process) puts it together; what a process does is
//! written above, by chapter. So no file needs those that need it.
//!
//! | below | what |
//! |---|---|
//! | `comm`, `group`, `topology` | communicators: `comm::{known, offer, letters, duplication}` are below, too |
//! | `users` | who uses the process |
//! | `envelope`, `kept`, `send_buffer` | where messages go; those that are kept, and buffers for them |
//! | `request::{activity, array, completion, generalized, message, origin, send_receive}` | operations that are under way |
//! | `coll::{case, irregular, cache}` | what decides a plan, and the plans that there are |
//! | `jobs::abroad` | what is kept of other jobs |
//! | `info` | what programs say of their communicators |
//! | `lent` | memory that the program has |
//! | `record`, `lines` | what processes tell each other, and the lines that they open a channel with |
//! | `arrival`, `policy`, `settings`, `hardware`, `clock` | when others come, how to wait, what the user has set |
//!
//! | above | what |
//! |---|---|
//! | `wait`, `doze`, `missing` | the one place where anything waits, beside whom, and for whom in vain |
//! | `progress`, `aside` | the thread that moves long operations on while the program computes |
//! | `p2p`, `bsend`, `request` | messages and requests |
//! | `memory`, `process_sets` | what programs allocate, and find by name |
//! | `coll` | one description per collective, and its three lifetimes |
//! | `comm` | how communicators are made together |
//! | `topology::create` | communicators with neighbours |
//! | `jobs` | connecting with other jobs, and starting them |
//! | `nodes` | the processes of a job on several nodes |
//! | `joining`, `seat`, `leaving` | how the job is found, or made of threads; by whom it is used, and how it is left |
#![forbid(unsafe_code)]

mod arrival;
mod aside;
mod at_once;
mod bsend;
mod clock;
pub mod coll;
mod comm;
mod doze;
mod envelope;
mod group;
mod hardware;
pub mod info;
mod jobs;
mod joining;
mod kept;
mod leaving;
mod lent;
mod lines;
mod memory;
mod missing;
mod nodes;
mod p2p;
mod policy;
mod process;
mod process_sets;
mod progress;
mod record;
mod request;
mod seat;
mod send_buffer;
mod settings;
mod topology;
mod users;
mod vain;
mod wait;

pub use clock::{processor_name, wall_tick, wall_time};
pub use coll::Operation;
pub use comm::Communicator;
pub use comm::inter::{Party, RemoteLeader};
pub use comm::split_type::SplitType;
pub use envelope::{Dest, NULL_SOURCE, SendMode, Source, TagPattern};
pub use group::{Comparison, Group};
pub use hardware::{Confinement, ResourceType};
pub use jobs::port::Destination;
pub use joining::app_number;
pub use kept::MessageKey;
pub use lent::Freed;
pub use nodes::Everybody;
pub use oxmpi_broker::Block as Program;
pub use oxmpi_engine::{Outcome, SetKey};
pub use process::{Exit, Phase, Process, Start, State, ThreadLevel, end_with};
pub use process_sets::PROCESS_SETS;
pub use request::array::RequestArray;
pub use request::completion::{AnyTest, Completion};
pub use request::generalized::GeneralizedCallbacks;
pub use request::waking::Signal;
pub use request::{Request, RequestKey};
pub use seat::{Seat, Seats};
pub use send_buffer::{AttachedBuffer, BUFFERED_OVERHEAD_BYTES, BufferOwner};
pub use settings::{Settings, parse_seconds};
pub use topology::{Axis, Cartesian, DistGraph, Edge, Edges, Graph, Subgrid, Topology, balanced_dims};
