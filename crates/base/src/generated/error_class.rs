//! Stand-in until the generator writes this file.
/// Error classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ErrorClass {
    Success,
    Arg,
    Comm,
    Count,
    Intern,
    NoMem,
    Op,
    Other,
    Rank,
    Request,
    Root,
    Tag,
    Truncate,
    Type,
    UnsupportedOperation,
}
