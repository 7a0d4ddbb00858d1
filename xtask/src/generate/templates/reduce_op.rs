//! The predefined operations, with their handles in the standard ABI.
//!
//! MPI-5.0: Collective Communication, Predefined Reduction Operations. All of them commute.

/// A predefined operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ReduceOp {
    $VARIANTS
}

impl ReduceOp {
    /// Every predefined operation.
    pub const ALL: [Self; $COUNT] = [
        $ALL
    ];

    /// The operation whose handle is `handle`.
    pub const fn from_abi(handle: u32) -> Option<Self> {
        Some(match handle {
            $FROM_ABI
            _ => return None,
        })
    }

    /// The handle in the standard ABI.
    pub const fn abi(self) -> u32 {
        self as u32
    }

    /// The name of the constant in C.
    pub const fn name(self) -> &'static str {
        match self {
            $NAMES
        }
    }
}
