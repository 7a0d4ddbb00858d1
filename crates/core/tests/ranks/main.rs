//! All ranks of a job, or of two, in one process: each a thread that is delayed, or dies, where a seed says so.
//!
//! What is tested is what calls mean between ranks, whoever comes when. Ranks as processes, and all that a launcher
//! does, are tested by `tests/tests` of the workspace.

mod binding;
mod collectives;
mod communicators;
mod deaths;
mod harness;
mod jobs;
mod matching;
mod nodes;
mod overlapping;
mod partitioned;
mod requests;
mod threads;
