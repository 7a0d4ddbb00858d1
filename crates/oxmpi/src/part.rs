//! Which part a rank has in a collective with a root, between two groups: a type, so that the buffer fits it.
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use std::fmt;

use oxmpi_base::Result;
use oxmpi_core::coll::Root;
use oxmpi_datatype::Buffer as Memory;

use crate::buffer::{RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::collective;
use crate::datatype::Datatype;
use crate::loan::Loan;

/// This rank is the root (`MPI_ROOT`); its buffer is what is sent to the other group, or received from there.
#[derive(Debug)]
pub struct Here<B>(pub B);

/// The root is another rank of this group (`MPI_PROC_NULL`).
#[derive(Clone, Copy, Debug)]
pub struct Beside;

/// The root is this rank of the other group; the buffer is what is sent to it, or received from it.
#[derive(Debug)]
pub struct There<B>(pub usize, pub B);

/// A part in what comes from a root: `Here(&buf)`, [`Beside`], or `There(root, &mut buf)`.
///
/// ```compile_fail,E0277
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// # let (this, world) = (env.this(), env.world());
/// let between = this.intercommunicator(0, &world, 1, 0)?;
/// between.bcast(oxmpi::There(0, &[1]))?; // what is received is changed
/// # Ok(())
/// # }
/// ```
pub trait FromRoot<'b, T: Datatype>: sealed::Partial<'b, T, true> {}

/// A part in what goes to a root: `Here(&mut buf)`, [`Beside`], or `There(root, &buf)`.
pub trait ToRoot<'b, T: Datatype>: sealed::Partial<'b, T, false> {}

impl<'b, T: Datatype, B: SendBuffer<Element = T> + ?Sized> FromRoot<'b, T> for Here<&'b B> {}
impl<'b, T: Datatype, B: RecvBuffer<Element = T> + ?Sized> FromRoot<'b, T> for There<&'b mut B> {}
impl<'b, T: Datatype> FromRoot<'b, T> for Beside {}

impl<'b, T: Datatype, B: RecvBuffer<Element = T> + ?Sized> ToRoot<'b, T> for Here<&'b mut B> {}
impl<'b, T: Datatype, B: SendBuffer<Element = T> + ?Sized> ToRoot<'b, T> for There<&'b B> {}
impl<'b, T: Datatype> ToRoot<'b, T> for Beside {}

/// What a rank lends.
pub enum Part<'b> {
    Here(Loan<'b>),
    Beside,
    There(usize, Loan<'b>),
}

mod sealed {
    use super::Part;

    /// What is a part.
    pub trait Partial<'b, T, const FROM_ROOT: bool> {
        /// What is lent.
        fn part(self) -> Part<'b>;
    }
}

impl<'b, T: Datatype, B: SendBuffer<Element = T> + ?Sized> sealed::Partial<'b, T, true> for Here<&'b B> {
    fn part(self) -> Part<'b> {
        Part::Here(self.0.lend())
    }
}

impl<'b, T: Datatype, B: RecvBuffer<Element = T> + ?Sized> sealed::Partial<'b, T, true> for There<&'b mut B> {
    fn part(self) -> Part<'b> {
        Part::There(self.0, self.1.lend_mut())
    }
}

impl<'b, T: Datatype, B: RecvBuffer<Element = T> + ?Sized> sealed::Partial<'b, T, false> for Here<&'b mut B> {
    fn part(self) -> Part<'b> {
        Part::Here(self.0.lend_mut())
    }
}

impl<'b, T: Datatype, B: SendBuffer<Element = T> + ?Sized> sealed::Partial<'b, T, false> for There<&'b B> {
    fn part(self) -> Part<'b> {
        Part::There(self.0, self.1.lend())
    }
}

impl<'b, T: Datatype, const FROM_ROOT: bool> sealed::Partial<'b, T, FROM_ROOT> for Beside {
    fn part(self) -> Part<'b> {
        Part::Beside
    }
}

impl Part<'_> {
    /// What is to be looked at when the operation is over; nothing of what is sent.
    pub(crate) fn check(&self) -> Option<Box<Check>> {
        match self {
            Self::Here(loan) | Self::There(_, loan) => loan.check(),
            Self::Beside => None,
        }
    }

    /// Who is the root.
    ///
    /// # Errors
    /// `Root` if there is no such rank.
    pub(crate) fn root(&self) -> Result<Root> {
        match self {
            Self::Here(_) => Ok(Root::Here),
            Self::Beside => Ok(Root::Beside),
            Self::There(root, _) => collective::checked_root(*root),
        }
    }

    /// Checks that the root has a block for each of so many ranks.
    ///
    /// # Errors
    /// `Count` if it has not.
    pub(crate) fn check_blocks(&self, ranks: usize, argument: &str) -> Result<()> {
        match self {
            Self::Here(loan) => collective::check_blocks(ranks, argument, loan),
            Self::Beside | Self::There(..) => Ok(()),
        }
    }

    /// The memory.
    ///
    /// # Safety
    /// As [`Loan::claim`].
    pub(crate) unsafe fn claim(&self) -> Memory {
        match self {
            // SAFETY: the caller's promise.
            Self::Here(loan) | Self::There(_, loan) => unsafe { loan.claim() },
            Self::Beside => Memory::EMPTY,
        }
    }

    /// The memory of the root, and of the others; there is one of them at most.
    ///
    /// # Safety
    /// As [`Loan::claim`].
    pub(crate) unsafe fn claim_sides(&self) -> (Memory, Memory) {
        let is_here = matches!(self, Self::Here(_));
        // SAFETY: the caller's promise.
        let memory = unsafe { self.claim() };
        if is_here { (memory, Memory::EMPTY) } else { (Memory::EMPTY, memory) }
    }
}

impl fmt::Debug for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here(_) => "Here",
            Self::Beside => "Beside",
            Self::There(..) => "There",
        })
    }
}
