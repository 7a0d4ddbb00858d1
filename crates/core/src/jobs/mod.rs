//! Other jobs: connecting with them, and starting them.
//!
//! Two jobs connect at a *port*: a name by which one process reaches another on this machine, or on another host of the
//! same launcher. The roots of both groups tell each other over it what leaders of groups that share a communicator
//! write in letters, and the intercommunicator is made like any other (`comm/inter.rs`). To *spawn* is to let the
//! broker start a job that connects at a port of the root as soon as it begins; to *join* is to do the same over a
//! socket of the program.
//!
//! Whoever meets a process of another job asks that job's broker, which is its launcher, for the memory that the job
//! shares. A process that nobody has launched starts a broker when it first needs one.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

pub(crate) mod abroad;
mod broker;
mod connect;
pub(crate) mod connection;
pub(crate) mod port;
pub(crate) mod reach;
mod spawn;
