//! Who sends, who receives, and what a received message says about itself.
//!
//! MPI-5.0: Point-to-Point Communication, Message Envelope; Return Status.

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core as core;

use crate::datatype::Datatype;

/// Whom a message goes to. A rank converts into it.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// use oxmpi::{Dest, Source};
///
/// // A line: who has nobody on one side says so.
/// let (rank, last) = (world.rank(), world.size() - 1);
/// let next = if rank < last { Dest::Rank(rank + 1) } else { Dest::Null };
/// let before = if rank > 0 { Source::Rank(rank - 1) } else { Source::Null };
/// let mut left = usize::MAX;
/// let status = world.sendrecv(&rank, next, 0, &mut left, before, 0)?;
/// assert_eq!(status.source(), rank.checked_sub(1));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dest {
    /// Nobody: sending does nothing (`MPI_PROC_NULL`).
    Null,
    /// A rank of the communicator.
    Rank(usize),
}

/// Whom a message may come from. A rank converts into it. See [`Dest`].
///
/// ```
/// use oxmpi::Source;
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// this.send(&'x', 0, 3)?;
/// let mut letter = '-';
/// this.recv(&mut letter, Source::Null, 3)?; // from nobody: nothing comes
/// assert_eq!(letter, '-');
/// let status = this.recv(&mut letter, Source::Any, 3)?;
/// assert_eq!((letter, status.source()), ('x', Some(0)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Anybody: `MPI_ANY_SOURCE`.
    Any,
    /// Nobody: receiving does nothing (`MPI_PROC_NULL`).
    Null,
    /// A rank of the communicator.
    Rank(usize),
}

/// Which tag a message may have. A tag converts into it. See [`Communicator::recv`](crate::Communicator::recv).
///
/// ```
/// use oxmpi::TagPattern;
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// this.send(&1, 0, 10)?;
/// this.send(&2, 0, 20)?;
/// let (mut first, mut second) = (0, 0);
/// this.recv(&mut second, 0, 20)?; // a tag is a pattern, too
/// let status = this.recv(&mut first, 0, TagPattern::Any)?;
/// assert_eq!((first, second, status.tag()), (1, 2, Some(10)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPattern {
    /// Any: `MPI_ANY_TAG`.
    Any,
    /// This one.
    Tag(i32),
}

/// What a received message says about itself. See [`Communicator::recv`](crate::Communicator::recv).
///
/// ```
/// use oxmpi::{Source, TagPattern};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// this.send(&[1_u16; 3], 0, 4)?;
/// let status = this.recv(&mut [0_u16; 9], Source::Any, TagPattern::Any)?;
/// assert_eq!((status.source(), status.tag()), (Some(0), Some(4)));
/// assert_eq!((status.bytes(), status.count::<u16>()), (6, Some(3)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(oxmpi_base::Status);

impl Status {
    pub(crate) const EMPTY: Self = Self(oxmpi_base::Status::EMPTY);

    /// It, unless its operation was cancelled, when there was no message.
    pub(crate) fn unless_cancelled(self) -> Option<Self> {
        (!self.0.cancelled).then_some(self)
    }

    /// It, to be written by a call.
    pub(crate) fn as_mut(&mut self) -> &mut oxmpi_base::Status {
        &mut self.0
    }

    /// The rank that sent the message; `None` if nobody did. See [`Communicator::recv`](crate::Communicator::recv).
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     let mut question = 0;
    ///     let status = world.recv(&mut question, oxmpi::Source::Any, 0)?;
    ///     let who = status.source().expect("somebody has asked");
    ///     world.send(&(2 * question), who, 0)?;
    /// } else {
    ///     let mut answer = 0;
    ///     world.sendrecv(&21, 0, 0, &mut answer, 0, 0)?;
    ///     assert_eq!(answer, 42);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn source(&self) -> Option<usize> {
        usize::try_from(self.0.source).ok()
    }

    /// The tag of the message; `None` if there was no message. See [`Communicator::recv`](crate::Communicator::recv).
    ///
    /// ```
    /// use oxmpi::{Source, TagPattern};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// const STOP: i32 = 1;
    ///
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[0.0; 0], 0, STOP)?;
    /// let status = this.recv(&mut [0.0; 100], Source::Any, TagPattern::Any)?;
    /// assert_eq!(status.tag(), Some(STOP));
    /// // From nobody comes no message.
    /// assert_eq!(this.recv(&mut 0, Source::Null, 0)?.tag(), None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tag(&self) -> Option<i32> {
        (self.0.tag >= 0).then_some(self.0.tag)
    }

    /// Length of the message in bytes. See [`Status::count`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[0.5_f64; 3], 0, 0)?;
    /// assert_eq!(this.recv(&mut [0.0_f64; 8], 0, 0)?.bytes(), 24);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Length of the message in elements; `None` if it does not end at the end of an element.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1_u8; 6], 0, 4)?;
    /// let status = this.recv(&mut [0_u8; 9], oxmpi::Source::Any, oxmpi::TagPattern::Any)?;
    /// assert_eq!((status.source(), status.tag(), status.bytes()), (Some(0), Some(4), 6));
    /// assert_eq!((status.count::<u16>(), status.count::<u32>()), (Some(3), None));
    /// # Ok(())
    /// # }
    /// ```
    pub fn count<T: Datatype>(&self) -> Option<usize> {
        let element_bytes = T::LAYOUT.packed_size() as u64;
        let whole = self.0.bytes.is_multiple_of(element_bytes);
        whole.then(|| self.0.bytes.checked_div(element_bytes).unwrap_or(0) as usize)
    }

    /// The same of what is to be elements of type `T`.
    ///
    /// # Errors
    /// `Type` if it does not end at the end of an element.
    pub(crate) fn whole<T: Datatype>(&self) -> Result<usize> {
        self.count::<T>().ok_or_else(|| {
            let (bytes, element) = (self.bytes(), T::LAYOUT.packed_size());
            let text = format!("a message of {bytes} bytes is no number of elements of {element}");
            Error::new(ErrorClass::Type, text)
        })
    }
}

impl From<oxmpi_base::Status> for Status {
    fn from(status: oxmpi_base::Status) -> Self {
        Self(status)
    }
}

impl From<usize> for Dest {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

impl From<usize> for Source {
    fn from(rank: usize) -> Self {
        Self::Rank(rank)
    }
}

impl From<i32> for TagPattern {
    fn from(tag: i32) -> Self {
        Self::Tag(tag)
    }
}

impl Dest {
    pub(crate) fn to_core(self) -> Result<core::Dest> {
        Ok(match self {
            Self::Null => core::Dest::Null,
            Self::Rank(rank) => core::Dest::Rank(rank_to_core(ErrorClass::Rank, "rank", rank)?),
        })
    }
}

impl Source {
    pub(crate) fn to_core(self) -> Result<core::Source> {
        Ok(match self {
            Self::Any => core::Source::Any,
            Self::Null => core::Source::Null,
            Self::Rank(rank) => core::Source::Rank(rank_to_core(ErrorClass::Rank, "rank", rank)?),
        })
    }
}

impl TagPattern {
    pub(crate) fn to_core(self) -> core::TagPattern {
        match self {
            Self::Any => core::TagPattern::Any,
            Self::Tag(tag) => core::TagPattern::Tag(tag),
        }
    }
}

/// A rank as core counts it; no communicator is so large that one of its ranks would not fit.
pub(crate) fn rank_to_core(class: ErrorClass, argument: &str, rank: usize) -> Result<i32> {
    i32::try_from(rank)
        .map_err(|_| Error::new(class, format!("{argument} {rank} is not a rank of the communicator")))
}
