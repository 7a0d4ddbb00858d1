//! Runs the built `mpiexec` on small programs: its exit contract, output, input and environment, and what is left.
//!
//! Limits on time are generous and only end what hangs.

mod dynamic;
mod ends;
mod environment;
mod fake_rank;
mod foreign;
mod hosts;
mod input;
mod leftovers;
mod namespaces;
mod options;
mod output;
mod partner;
mod run;
