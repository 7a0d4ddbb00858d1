//! What a completed operation tells about itself.

use crate::ErrorClass;

/// The outcome of a completed operation, before a front gives it its layout.
///
/// MPI-5.0: Point-to-Point Communication, Return Status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Rank of the sender in the communicator's (remote) group; [`Status::ANY`] when empty.
    pub source: i32,
    /// Tag of the message; [`Status::ANY`] when empty.
    pub tag: i32,
    /// Bytes of data received, packed (gaps of the datatype do not count).
    pub bytes: u64,
    /// Whether the operation was cancelled.
    pub cancelled: bool,
    /// `Success`, or the class of what went wrong with this one operation.
    pub error: ErrorClass,
}

impl Status {
    /// In `source` and `tag` of an empty status. Fronts turn it into their ABI's wildcards.
    pub const ANY: i32 = -1;

    /// The status of a null or inactive request, or of an operation that has no message.
    pub const EMPTY: Self =
        Self { source: Self::ANY, tag: Self::ANY, bytes: 0, cancelled: false, error: ErrorClass::Success };
}
