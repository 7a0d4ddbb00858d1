//! Datatypes: where in memory the data of a message lies, and moving it from there and back.
//!
//! A [`Datatype`] is built by the standard's constructors and *committed*, which flattens it once to a small
//! tree of runs and loops: a vector of a million blocks is one loop. A [`Buffer`] is a number of elements of a
//! datatype at an address. The rest of oxmpi counts bytes as they lie *packed*, without the gaps, and asks the
//! buffer to read or write any range of them.
//!
//! Only the module `cursor` touches the user's bytes. MPI-5.0: Datatypes.

mod bounds;
mod buffer;
mod constructor;
mod cursor;
mod datatype;
mod layout;

pub use buffer::Buffer;
pub use constructor::Constructor;
pub use datatype::Datatype;
