//! Runs the built `mpiexec` on small programs: its exit contract, output, input, environment, and what it leaves behind.
//!
//! Limits on time are generous and only end what hangs.

mod ends;
mod environment;
mod fake_rank;
mod input;
mod leftovers;
mod options;
mod output;
mod run;
