//! What there is to know of a collective, apart from how it is carried out.

use oxmpi_base::Function;

use crate::Algorithm;

/// A collective's row in the table of all: what the standard says of its buffers, and its algorithms.
#[derive(Debug)]
pub struct CollectiveInfo {
    /// The standard's name, in lower case.
    pub name: &'static str,
    /// What calls of it are called in C.
    pub functions: Functions,
    /// What is contributed, and who does.
    pub send: Side,
    /// What comes of it, and who gets it.
    pub recv: Side,
    /// How contributions are combined.
    pub combines: Combines,
    /// Whether there is only one buffer, where the root has what it contributes and the others receive.
    pub has_one_buffer: bool,
    /// The algorithms within one group, in the order in which ties are decided.
    pub within: &'static [&'static Algorithm],
    /// The algorithms between two groups, likewise; none where the standard defines it within one group only.
    pub between: &'static [&'static Algorithm],
}

/// The C functions of a collective, by lifetime.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// `MPI_X`.
    pub blocking: Function,
    /// `MPI_Ix`.
    pub nonblocking: Function,
    /// `MPI_X_init`.
    pub persistent: Function,
}

/// What the contributions, or the results, of a collective are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Which ranks have one. Between two groups those are all of one group in a collective with a root, all of
    /// both in one without.
    pub whose: Whose,
    /// How long it is.
    pub holds: Holds,
}

/// Which ranks contribute, or receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they say it")]
pub enum Whose {
    Everybody,
    Nobody,
    Root,
}

/// How long a buffer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A block for or from each rank at the other side.
    Each,
    /// A vector, or one block.
    One,
}

/// How contributions become a rank's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combines {
    /// Those of all ranks are combined, in their order.
    All,
    /// Those of the lower ranks are combined, in their order; rank 0 gets nothing.
    BeforeOwn,
    /// Each stays what it is.
    Nothing,
    /// Those of the lower ranks and the own one are combined, in their order.
    UpToOwn,
}

impl Side {
    /// There is none.
    pub(crate) const NONE: Self = Self { whose: Whose::Nobody, holds: Holds::One };

    pub(crate) const fn one(whose: Whose) -> Self {
        Self { whose, holds: Holds::One }
    }

    pub(crate) const fn each(whose: Whose) -> Self {
        Self { whose, holds: Holds::Each }
    }
}

impl CollectiveInfo {
    /// Whether it has a root.
    pub const fn is_rooted(&self) -> bool {
        matches!(self.send.whose, Whose::Root) || matches!(self.recv.whose, Whose::Root)
    }

    /// Whether it moves data, and not only makes ranks wait for each other.
    pub const fn moves_data(&self) -> bool {
        !matches!(self.send.whose, Whose::Nobody)
    }

    /// Whether contributions are combined.
    pub const fn is_reduction(&self) -> bool {
        !matches!(self.combines, Combines::Nothing)
    }

    /// Whether every rank waits for something of every rank.
    pub(crate) const fn is_from_all_to_all(&self) -> bool {
        !self.is_rooted() && matches!(self.combines, Combines::All | Combines::Nothing)
    }

    /// Whether everybody's contribution is part of every result.
    pub(crate) const fn is_from_all(&self) -> bool {
        matches!(self.combines, Combines::All | Combines::Nothing)
    }

    /// Whether each rank has two buffers, of which one may lie in the other.
    pub(crate) const fn has_two_buffers(&self) -> bool {
        self.moves_data() && !self.has_one_buffer
    }

    /// Whether all ranks of a group get the same, and must get the same bits.
    #[cfg(any(test, feature = "tools"))]
    pub(crate) const fn has_equal_results(&self) -> bool {
        matches!((self.combines, self.send.holds), (Combines::All, Holds::One))
            && matches!(self.recv.whose, Whose::Everybody)
    }
}
