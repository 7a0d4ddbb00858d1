//! What the root argument of a collective makes of a process: which of its other arguments count.
//!
//! MPI-5.0: Collective Communication, Specifics for Inter-Communicator Collective Operations.

use std::ffi::c_int;

use oxmpi_base::Result;
use oxmpi_core::Communicator;
use oxmpi_core::coll::{Root, Side};
use oxmpi_datatype::Buffer;

use crate::buffer::{Arguments, TypedOperands};
use crate::generated::constants::{MPI_PROC_NULL, MPI_ROOT};

/// A process's part in a rooted collective.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The root.
    pub root: Root,
    /// Whether it is this process.
    is_root: bool,
}

impl Part {
    /// The part of this process, where the program names this root.
    #[inline]
    pub fn of(comm: &Communicator, root: c_int) -> Self {
        if comm.is_inter() {
            return Self::between_groups(root);
        }
        Self { root: Root::Rank(root), is_root: root == comm.rank().cast_signed() }
    }

    #[cold]
    fn between_groups(root: c_int) -> Self {
        let root = match root {
            MPI_ROOT => Root::Here,
            MPI_PROC_NULL => Root::Beside,
            rank => Root::Rank(rank),
        };
        Self { root, is_root: root == Root::Here }
    }

    /// Whether this process is the root.
    #[inline]
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    /// The buffer that every process has but those on the root's side of an intercommunicator. The root of a
    /// group may work in place.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline]
    pub fn contribution(&self, arguments: &Arguments) -> Result<Side> {
        match self.root {
            Root::Here | Root::Beside => Ok(Side::Buffer(Buffer::EMPTY)),
            _ if self.is_root => arguments.side(),
            _ => arguments.buffer().map(Side::Buffer),
        }
    }

    /// As [`Part::contribution`], to a reduction.
    ///
    /// # Errors
    /// As [`Arguments::buffer`].
    #[inline(always)]
    pub fn operand(&self, operands: &TypedOperands) -> Result<Side> {
        match self.root {
            Root::Here | Root::Beside => Ok(Side::Buffer(Buffer::EMPTY)),
            _ if self.is_root => operands.side(),
            _ => operands.input().map(Side::Buffer),
        }
    }
}
