//! Datatypes: where in memory the data of a message lies, and moving it from there and back.
//!
//! A [`Datatype`] is built by the standard's constructors, each of which flattens it at once to a small tree of
//! runs and loops (`layout`): a vector of a million blocks is one loop. A [`Buffer`] is a number of elements of a
//! datatype at an address. The rest of oxmpi counts bytes as they lie *packed*, without the gaps, and asks the
//! buffer to read or write any range of them. A tree of the types alone (`signature`) counts basic elements and
//! converts to `external32`.
//!
//! Only the module `cursor` touches the user's bytes. MPI-5.0: Datatypes.

mod array;
mod binary128;
mod bounds;
mod buffer;
mod constructor;
mod cursor;
mod datatype;
mod derived;
mod elements;
mod external32;
mod fortran;
mod layout;
mod signature;
mod typemap;

pub use buffer::Buffer;
pub use constructor::{Constructor, Darray, Distribution, Order, Subarray};
pub use datatype::Datatype;
pub use elements::Elements;
pub use signature::SignatureRuns;
