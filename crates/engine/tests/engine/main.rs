//! Many engines in one process, driven by one thread in random order.
//!
//! Nothing in an engine waits, so a seed fixes everything that happens. The seed is in every failure message.

mod aside;
mod channels;
mod collective;
mod collectives;
mod failures;
mod floods;
mod groups;
mod harness;
mod inter;
mod jobs;
mod leaving;
mod memory;
mod messages;
mod net;
mod outstanding;
mod partitioned;
mod planned;
mod protocols;
mod rings;
mod storms;
mod unasked;
