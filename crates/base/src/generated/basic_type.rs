//! Stand-in until the generator writes this file.
/// Basic types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BasicType {
    Byte,
    Int,
    Double,
}
/// Classes of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TypeClass {
    Byte,
}
