//! The API on several ranks: each test starts itself under our `mpiexec`, on several numbers of ranks.
//!
//! `mpiexec` is taken from the folder of the build; `cargo build` puts it there.

mod attributes;
mod blocks;
mod collectives;
mod data;
mod disagreement;
mod futures;
mod job;
mod leaving;
mod matched;
mod messages;
mod ownership;
mod partitioned;
mod planned;
mod request_sets;
mod sessions;
mod spawning;
mod threads;
mod under_way;
mod views;
