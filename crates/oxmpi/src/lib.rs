//! MPI for Rust, without a C library underneath.
//!
//! ```
//! use oxmpi::Op;
//!
//! fn main() -> oxmpi::Result<()> {
//!     let env = oxmpi::init()?;
//!     let world = env.world();
//!     let mut sum = [world.rank() as u64];
//!     world.allreduce_in_place(&mut sum, &Op::SUM)?;
//!     println!("rank {} of {}: the ranks add up to {}", world.rank(), world.size(), sum[0]);
//!     Ok(())
//! }
//! ```
//!
//! Start the program with `mpiexec -n 4 program`, or `cargo oxmpi run -n 4`; started alone it is a job of one rank.
//! Without a launcher, [`run`] makes ranks of threads, and [`macro@test`] does for tests. Names are the standard's
//! words in Rust's case. How long a call lasts follows from where it is made:
//!
//! | lifetime | made by | its buffers |
//! |---|---|---|
//! | blocking | [`Communicator`] | borrowed by the call |
//! | nonblocking | [`Scope`], inside [`Communicator::scope`] | borrowed until the end of the scope |
//! | nonblocking | [`Communicator`], methods that begin with `i`: an [`OwnedRequest`] | owned by the request, given back at its end |
//! | persistent | [`Communicator`], methods that end in `_init` | owned by the request, yours while it is inactive |
//! | persistent | [`Scope`], methods that end in `_init` | borrowed until the end of the scope, yours while it is inactive |
//! | persistent, in turns | [`Communicator::sender`], [`Communicator::receiver`] | those of the channel |
//!
//! What is not blocking can be awaited, too; [`Driver`] says how.
//!
//! Messages in partitions, which threads make ready one by one, are persistent too: [`Communicator::psend_init`].
//!
//! What is sent and received are [buffers](Buffer): slices, arrays, vectors, single values, and [views](View) of
//! slices, such as a column of a matrix; their elements are of any type that is a [`Datatype`], which structures
//! become by `#[derive(Datatype)]`.
//!
//! Other communicators are made of [groups](Group), and some have neighbours: [`Cartesian`] grids, and [graphs](Graph).
//! An [`Intercommunicator`] is between two groups. A library need not share the program's world: it opens a
//! [`Session`].
//!
//! All lifetimes run the same plans; a [`Persistent`] request has found everything out before it is started, and is
//! the fastest.
//!
//! An [`Error`] has a class of the standard, and shows who failed in which call and why, as in
//! `rank 2: MPI_Send: tag is -3 (MPI_ERR_TAG)`.
//!
//! # C code in the same program
//!
//! A C library that uses MPI too has an engine of its own, and the two cannot both be the same rank: whoever comes
//! second is refused. With the feature `c` the C functions become part of the program, libraries that it is linked
//! with find them there, and both languages share one world: [`init`] is `MPI_Init_thread` for C as well, dropping the
//! [`Environment`] is `MPI_Finalize`, and `MPI_COMM_WORLD` in C is [`Environment::world`] here. `Communicator::as_raw`
//! gives the handle by which C knows any other, and `borrow_raw`, of an environment or a session, the communicator
//! that C knows by a handle. (A library that is loaded later, by `dlopen`, finds the functions only if the program is
//! linked with `-rdynamic`.)
//!
//! # Soundness
//!
//! Safe code that uses this crate can deadlock, but not break memory safety:
//!
//! - **Buffers.** While an operation may use a buffer, the program has no usable reference to it: a blocking call
//!   borrows it; a scope borrows it and does not end before its operations do, even if a request is forgotten or
//!   the scope panics; a persistent request owns it and gives references only while it is inactive, a forgotten
//!   one leaves its buffers allocated. A panic inside a call, such as in a user's [`Op`], ends the process; but in
//!   [`Op::reduce_local`], which has lent nothing, it goes to the caller. What fails is over when it says so: none of
//!   its messages is on its way into a buffer any more.
//! - **Data.** An element of a message is a [`Datatype`], which says of each bit what it is; padding is never read.
//!   Where not all bits are a value, as of a `bool`, what has been received is looked at before the memory becomes
//!   visible again, however the operation ended and whatever became of its request; what is none is replaced.
//! - **Threads.** Everything borrows from the [`Environment`], or a [`Session`], and carries its [`ThreadLevel`]. At
//!   [`Funneled`] nothing is `Send` or `Sync`, and stays in the thread that initialised MPI, or opened the session.
//!   Whoever comes first decides on the lock: after a [`Funneled`] environment the state has none, and a [`Session`] is
//!   had by the same thread alone, for itself, while that environment lasts and ever after; after one that is
//!   [`Multiple`], or a session, the state is behind a lock. A process can be initialised once. (C code that shares the
//!   engine keeps the level that [`init`] has asked for.)
//! - **The end.** The environment, or a session, can be dropped only when nothing borrows from it any more, so nothing
//!   is called after `MPI_Finalize`.

// What is derived names things of this crate by its name, here too.
extern crate self as oxmpi;

#[macro_use]
mod example;

#[cfg(feature = "ndarray")]
mod array;
mod attribute;
mod batch;
mod blocks;
mod buffer;
mod buffered;
mod buffers;
mod channel;
mod check;
mod collective;
mod communicator;
mod complex;
mod constructors;
mod datatype;
mod door;
mod driver;
mod duplicate;
mod engine;
mod environment;
mod future;
mod group;
#[cfg(doctest)]
mod guide;
mod info;
mod init;
mod intercommunicator;
mod kept;
mod layout;
mod loan;
mod matched;
mod message;
mod op;
mod owned_request;
mod pack;
mod part;
mod partitioned;
mod persistent;
mod planned;
mod process_set;
#[cfg(feature = "c")]
mod raw;
mod request;
mod request_set;
mod run;
mod scope;
mod send_receive;
mod sends;
mod session;
mod shape;
mod spawn;
#[doc(hidden)]
pub mod testing;
mod thread;
mod topology;
mod under_way;
#[cfg(feature = "serde")]
mod values;
mod view;

pub use batch::{Startable, Waitable, start_all, wait_all};
pub use blocks::Blocks;
pub use buffer::{Access, Buffer, OwnedBuffer, RecvBuffer, SendBuffer};
pub use buffered::Buffered;
pub use buffers::{Buffers, Hold, One, OneLent, Two, TwoLent};
pub use channel::{Receiver, Sender};
pub use communicator::Communicator;
pub use complex::Complex;
pub use datatype::{Datatype, Integer, Logical, Number, Ordered, Single};
pub use driver::Driver;
pub use duplicate::Duplicate;
pub use environment::{Environment, init, init_with};
pub use future::{ActiveFuture, OwnedFuture, RequestFuture};
pub use group::{Comparison, Group};
pub use info::{Info, Key};
pub use intercommunicator::{Intercommunicator, IntercommunicatorScope};
pub use layout::{Field, Layout};
pub use loan::{Lent, Owned};
pub use matched::Message;
pub use message::{Dest, Source, Status, TagPattern};
pub use op::Op;
pub use owned_request::OwnedRequest;
/// ```
/// use oxmpi::{BasicType, Datatype};
///
/// assert_eq!(f64::LAYOUT.basic_type(), Some(BasicType::Double));
/// assert_eq!((BasicType::Double.name(), BasicType::Double.size()), ("MPI_DOUBLE", 8));
/// ```
pub use oxmpi_base::BasicType;
/// ```
/// use oxmpi::{Error, ErrorClass};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let error = world.send(&1, 7, 0).expect_err("there are two ranks");
/// assert_eq!((error.class(), error.function()), (ErrorClass::Rank, Some("MPI_Send")));
/// assert_eq!(error.rank(), Some(world.rank()), "whose call has failed");
/// // A program's own, to be returned by what returns those of MPI.
/// let own = Error::new(ErrorClass::Arg, "there are no cells").about("mesh");
/// assert_eq!(own.to_string(), "mesh: there are no cells (MPI_ERR_ARG)");
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub use oxmpi_base::Error;
/// ```
/// use oxmpi::ErrorClass;
///
/// let class = ErrorClass::Truncate;
/// assert_eq!((class.name(), ErrorClass::from_code(class.code())), ("MPI_ERR_TRUNCATE", Some(class)));
/// assert_eq!(class.description(), "message longer than the receive buffer");
/// ```
pub use oxmpi_base::ErrorClass;
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let peer = 1 - world.rank();
/// let receive = world.irecv(0, peer, oxmpi::GREATEST_TAG)?;
/// world.send(&7, peer, oxmpi::GREATEST_TAG)?;
/// assert_eq!(receive.wait()?.0, [7]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub use oxmpi_base::GREATEST_TAG;
/// ```
/// assert!(oxmpi::LIBRARY_VERSION.starts_with("oxmpi "));
/// ```
pub use oxmpi_base::LIBRARY_VERSION;
/// ```
/// fn half(count: usize) -> oxmpi::Result<usize> {
///     let odd = || oxmpi::Error::new(oxmpi::ErrorClass::Count, format!("count is {count}, which is odd"));
///     if count % 2 == 0 { Ok(count / 2) } else { Err(odd()) }
/// }
///
/// assert_eq!(half(6)?, 3);
/// # Ok::<(), oxmpi::Error>(())
/// ```
pub use oxmpi_base::Result;
/// ```
/// let (version, subversion) = oxmpi::STANDARD_VERSION;
/// assert!((version, subversion) >= (5, 0));
/// ```
pub use oxmpi_base::STANDARD_VERSION;
/// ```
/// use oxmpi::ResourceType;
///
/// assert_eq!(ResourceType::named("hwloc://NUMANode"), Some(ResourceType::NumaNode));
/// for kind in ResourceType::ALL {
///     let is_bound = kind.confines_this_thread(); // to one of them
///     println!("{}: {is_bound}", kind.name());
/// }
/// ```
pub use oxmpi_core::ResourceType;
/// ```
/// assert!(!oxmpi::processor_name().is_empty());
/// ```
pub use oxmpi_core::processor_name;
/// ```
/// assert!(oxmpi::wall_tick() < 1e-6);
/// ```
pub use oxmpi_core::wall_tick;
/// ```
/// let begin = oxmpi::wall_time();
/// // ... compute ...
/// assert!(oxmpi::wall_time() >= begin);
/// ```
pub use oxmpi_core::wall_time;
/// ```
/// use oxmpi::Datatype;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
/// struct Particle<T> {
///     position: [T; 3],
///     charge: i8,
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mine = Particle { position: [0.5; 3], charge: world.rank() as i8 };
/// let mut all = [mine; 2];
/// world.allgather(&mine, &mut all)?;
/// assert_eq!(all.map(|particle| particle.charge), [0, 1]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub use oxmpi_derive::Datatype;
/// ```
/// use oxmpi::{Communicator, Op};
///
/// #[oxmpi::test(ranks = [1, 4])]
/// fn ranks_add_up(world: Communicator<'_>) -> oxmpi::Result<()> {
///     let mut sum = world.rank();
///     world.allreduce_in_place(&mut sum, &Op::SUM)?;
///     assert_eq!(sum, world.size() * (world.size() - 1) / 2);
///     Ok(())
/// }
/// # fn main() {}
/// ```
pub use oxmpi_derive::test;
pub use pack::{pack, unpack};
pub use part::{Beside, FromRoot, Here, LentPart, OwnedPart, There, ToRoot};
pub use partitioned::{Partition, RecvPartitions, RecvPartitionsLent, SendPartitions, SendPartitionsLent};
pub use persistent::{Active, Persistent};
pub use planned::{Plan, Planned};
#[cfg(feature = "c")]
pub use raw::MPI_Comm;
pub use request::Request;
pub use request_set::RequestSet;
pub use run::{run, run_with};
pub use scope::Scope;
pub use session::Session;
pub use shape::Shape;
pub use thread::{Funneled, Multiple, ThreadLevel};
pub use topology::{Cartesian, Graph, balanced_dims};
pub use under_way::{UnderWay, test_any, test_some, wait_any, wait_some};
pub use view::{View, ViewMut, ViewVec};
