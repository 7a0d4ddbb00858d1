//! Which part a rank has in a collective with a root, between two groups: a type, so that the buffer fits it.
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Inter-Communicators.

use std::fmt;

use oxmpi_base::Result;
use oxmpi_core::coll::Root;
use oxmpi_datatype::Buffer as Memory;

use crate::blocks::Blocks;
use crate::buffer::{Access, OwnedBuffer, RecvBuffer, SendBuffer};
use crate::buffers::{One, OneLent};
use crate::check::Check;
use crate::collective;
use crate::datatype::Datatype;
use crate::kept::Kept;
use crate::loan::{Lent, Loan};

/// This rank is the root (`MPI_ROOT`); its buffer is what is sent to the other group, or received from there.
/// See [`Intercommunicator`](crate::Intercommunicator).
///
/// ```
/// use oxmpi::{Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
/// if side == 1 {
///     let mut ranks = [0_usize; 2];
///     between.gather(Here(&mut ranks))?; // what comes from over there
///     assert_eq!(ranks, [0, 2]);
/// } else {
///     between.gather(There(0, &world.rank()))?;
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Here<B>(pub B);

/// The root is another rank of this group (`MPI_PROC_NULL`). See [`Intercommunicator`](crate::Intercommunicator).
///
/// ```
/// use oxmpi::{Beside, Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
/// let mut seed = 0;
/// match world.rank() {
///     0 => between.bcast(Here(&42))?,
///     2 => between.bcast::<i32>(Beside)?, // it has no part in this, and says so
///     _ => between.bcast(There(0, &mut seed))?,
/// }
/// assert_eq!(seed, [0, 42][side]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Beside;

/// The root is this rank of the other group; the buffer is what is sent to it, or received from it.
/// See [`Intercommunicator`](crate::Intercommunicator).
///
/// ```
/// use oxmpi::{Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
/// let mut mine = 0;
/// match side {
///     1 => between.scatter(Here(&[10, 12]))?,
///     _ => between.scatter(There(0, &mut mine))?, // from rank 0 over there
/// }
/// assert_eq!(mine, [10, 0, 12][world.rank()]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct There<B>(pub usize, pub B);

/// A part in what comes from a root: `Here(&buf)`, [`Beside`], or `There(root, &mut buf)`.
/// See [`Intercommunicator::bcast`](crate::Intercommunicator::bcast).
///
/// ```
/// use oxmpi::{FromRoot, Here, Intercommunicator, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// fn tell<'b>(between: &Intercommunicator<'_>, part: impl FromRoot<'b, usize>) -> oxmpi::Result<()> {
///     between.bcast(part)
/// }
///
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
/// let mut told = 0;
/// match side {
///     1 => tell(&between, Here(&7))?,
///     _ => tell(&between, There(0, &mut told))?,
/// }
/// assert_eq!(told, [7, 0][side]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
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
/// See [`Intercommunicator::reduce`](crate::Intercommunicator::reduce).
///
/// ```
/// use oxmpi::{Here, Intercommunicator, Op, There, ToRoot};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// fn sum<'b>(between: &Intercommunicator<'_>, part: impl ToRoot<'b, usize>) -> oxmpi::Result<()> {
///     between.reduce(part, &Op::SUM)
/// }
///
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
/// let mut ranks = 0;
/// match side {
///     1 => sum(&between, Here(&mut ranks))?,
///     _ => sum(&between, There(0, &world.rank()))?,
/// }
/// assert_eq!(ranks, [0, 2][side]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
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

/// A part whose buffer an operation keeps: `Here(buf)`, [`Beside`], or `There(root, buf)`. What the request has of it
/// is [`One`] buffer, or `()`.
///
/// ```
/// use oxmpi::{Beside, Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(4, |world| {
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// # let between = group.intercommunicator(0, &world, 1 - side, 0)?;
/// match (side, group.rank()) {
///     (0, 0) => {
///         let mut broadcast = between.bcast_init(Here(vec![0; 3]))?;
///         for step in 1..4 {
///             broadcast.buf_mut().fill(step);
///             broadcast = broadcast.start()?.wait()?;
///         }
///     }
///     (0, _) => {
///         let mut broadcast = between.bcast_init::<i32, _>(Beside)?;
///         for _ in 1..4 {
///             broadcast = broadcast.start()?.wait()?;
///         }
///     }
///     _ => {
///         let mut broadcast = between.bcast_init(There(0, vec![0; 3]))?;
///         for step in 1..4 {
///             broadcast = broadcast.start()?.wait()?;
///             assert_eq!(broadcast.buf(), [step; 3]);
///         }
///     }
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait OwnedPart<T: Datatype>: sealed::Keep<T> {}

impl<T: Datatype, B: OwnedBuffer<Element = T>> OwnedPart<T> for Here<B> {}
impl<T: Datatype, B: OwnedBuffer<Element = T>> OwnedPart<T> for There<B> {}
impl<T: Datatype> OwnedPart<T> for Beside {}

/// A part whose buffer a scope borrows for a persistent operation: `Here(&mut buf)`, [`Beside`], or
/// `There(root, &mut buf)`. What the request has of it is [`OneLent`] buffer, or `()`.
///
/// ```
/// use oxmpi::{Beside, Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// # let side = world.rank() % 2;
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// # let between = group.intercommunicator(0, &world, 1 - side, 0)?;
/// let mut weights = [0; 2];
/// between.scope(|scope| {
///     if side == 0 && group.rank() == 0 {
///         let mut broadcast = scope.bcast_init(Here(&mut weights))?;
///         for step in 1..4 {
///             broadcast.buf_mut().fill(step);
///             broadcast = broadcast.start()?.wait()?;
///         }
///     } else if side == 0 {
///         let mut broadcast = scope.bcast_init::<i32, _>(Beside)?;
///         for _ in 1..4 {
///             broadcast = broadcast.start()?.wait()?;
///         }
///     } else {
///         let mut broadcast = scope.bcast_init(There(0, &mut weights))?;
///         for step in 1..4 {
///             broadcast = broadcast.start()?.wait()?;
///             assert_eq!(broadcast.buf(), [step; 2]);
///         }
///     }
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait LentPart<'b, T: Datatype>: sealed::Borrow<'b, T> {}

impl<'b, T: Datatype, B: ?Sized> LentPart<'b, T> for Here<&'b mut B>
where
    B: SendBuffer<Element = T> + RecvBuffer,
    B::View: Access<Element = T>,
{
}

impl<'b, T: Datatype, B: ?Sized> LentPart<'b, T> for There<&'b mut B>
where
    B: SendBuffer<Element = T> + RecvBuffer,
    B::View: Access<Element = T>,
{
}

impl<'b, T: Datatype> LentPart<'b, T> for Beside {}

mod sealed {
    use super::Part;
    use crate::buffers::Buffers;
    use crate::kept::Kept;

    /// What is a part with a buffer of its own.
    pub trait Keep<T> {
        /// What the request has of it.
        type Buffers: Buffers;

        /// That, and what is lent for as long as the request keeps it.
        fn keep(self) -> Kept<Self::Buffers, Part<'static>>;
    }

    /// What is a part with a buffer that is borrowed.
    pub trait Borrow<'b, T> {
        /// What the request has of it.
        type Buffers: Buffers;

        /// That, and what is lent.
        fn borrow(self) -> Kept<Self::Buffers, Part<'b>>;
    }

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

impl<T: Datatype, B: OwnedBuffer<Element = T>> sealed::Keep<T> for Here<B> {
    type Buffers = One<T>;

    fn keep(self) -> Kept<One<T>, Part<'static>> {
        self.0.own().within(One::new).describe(Part::Here)
    }
}

impl<T: Datatype, B: OwnedBuffer<Element = T>> sealed::Keep<T> for There<B> {
    type Buffers = One<T>;

    fn keep(self) -> Kept<One<T>, Part<'static>> {
        self.1.own().within(One::new).describe(|loan| Part::There(self.0, loan))
    }
}

impl<T: Datatype> sealed::Keep<T> for Beside {
    type Buffers = ();

    fn keep(self) -> Kept<(), Part<'static>> {
        Kept::lending_nothing(()).describe(|()| Part::Beside)
    }
}

impl<'b, T: Datatype, B: SendBuffer<Element = T> + RecvBuffer + ?Sized> sealed::Borrow<'b, T>
    for Here<&'b mut B>
where
    B::View: Access<Element = T>,
{
    type Buffers = OneLent<'b, B::View>;

    fn borrow(self) -> Kept<Self::Buffers, Part<'b>> {
        Lent::of(self.0).within(One::new).describe(Part::Here)
    }
}

impl<'b, T: Datatype, B: SendBuffer<Element = T> + RecvBuffer + ?Sized> sealed::Borrow<'b, T>
    for There<&'b mut B>
where
    B::View: Access<Element = T>,
{
    type Buffers = OneLent<'b, B::View>;

    fn borrow(self) -> Kept<Self::Buffers, Part<'b>> {
        Lent::of(self.1).within(One::new).describe(|loan| Part::There(self.0, loan))
    }
}

impl<'b, T: Datatype> sealed::Borrow<'b, T> for Beside {
    type Buffers = ();

    fn borrow(self) -> Kept<(), Part<'b>> {
        Kept::lending_nothing(()).describe(|()| Part::Beside)
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

    /// The root's blocks, one for each of so many ranks, and the memory of the others; there is one of them at most.
    ///
    /// # Errors
    /// As [`Blocks::claim`].
    ///
    /// # Safety
    /// As [`Loan::claim`].
    pub(crate) unsafe fn claim_blocks(
        &self,
        blocks: &Blocks,
        ranks: usize,
        argument: &str,
        received: bool,
    ) -> Result<(Vec<Memory>, Memory)> {
        match self {
            Self::Here(loan) => {
                // SAFETY: the caller's promise.
                Ok((unsafe { blocks.claim(ranks, argument, loan, received) }?, Memory::EMPTY))
            }
            // SAFETY: the caller's promise.
            Self::Beside | Self::There(..) => Ok((Vec::new(), unsafe { self.claim() })),
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
