//! The engine: moves messages and runs plans until they are complete. Nothing here waits.
//!
//! Every function does what is possible now and returns; waiting is a loop around [`Engine::poll`] in `core`.
//!
//! | part | what |
//! |---|---|
//! | [`P2p`] | point-to-point messages between ranks of the node: matching and protocols |
//! | [`Channel`] | the lines by which a communicator's collectives, or one persistent one, reach the peers |
//! | [`Run`] | one execution of a plan: the same for all lifetimes |
//! | [`Engine`] | owns them, and polls |
#![forbid(unsafe_code)]

mod absent;
mod addresses;
mod binding;
mod board;
mod call;
mod channel;
mod contexts;
mod course;
mod engine;
mod jobs;
mod left;
mod lines;
mod links;
mod matching;
mod names;
mod p2p;
mod peers;
mod posted;
mod program;
mod results;
mod run;
mod shown;
mod signature;
mod slab;
mod ties;
mod writes;

pub use absent::Absent;
pub use addresses::Addresses;
pub use binding::{Binding, Images, Transfer};
pub use board::{Board, Entry, SetKey, Standing};
pub use call::{Call, Called, Lifetime};
pub use channel::{Channel, ChannelPlan};
pub use engine::{ChannelKey, Engine, RunKey};
pub use jobs::Whereabouts;
pub use lines::{Form, Lines, Notes};
pub use matching::{Message, Pattern};
pub use names::Names;
pub use p2p::{
    Address, AtOnce, Event, Mode, Needs, OpKey, Outcome, P2p, Partitioned, PartitionedKey, Reading, Received,
};
pub use peers::PeerId;
pub use program::Program;
pub use run::{Awaits, Run};
pub use signature::Signature;
pub use slab::{Key, Slab};

pub use oxmpi_shm::{Arrivals, Marks};

/// What a process sees of the machine and shows of itself.
pub mod machine {
    pub use oxmpi_shm::{
        Bed, Cpu, Job, Phase, Posts, ProcessorQueue, StatePage, ThreadAside, Ticket, allowed_cpus, at_exit,
        end_process, now_ns, shown_settings, usable_cpus, yield_now,
    };
}
