//! The API on ranks that are threads of the test, as users' tests have them: no launcher is needed.

mod again;
mod beside;
mod borrowed;
mod cancelling;
mod channels;
mod derived;
mod disagreement;
mod errors;
mod futures;
mod groups;
mod intercommunicators;
mod lengths;
mod modes;
mod partitions;
mod run;
mod shapes;
mod tokio;
mod topologies;
mod vectors;
