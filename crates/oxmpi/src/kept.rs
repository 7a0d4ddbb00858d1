//! Memory and loans of it, which stay together until an operation is made of both.
//!
//! A request that outlives its call keeps its buffers for as long as its operation may use them; that is true if the
//! operation uses those buffers. So what lends memory gives it and the loan as one value, and the calls that make such
//! operations take that value apart, and nobody else does.

/// What a request is to keep, and what has been described of loans of that, and of nothing else.
///
/// Programs can get one, by a trait that they cannot name, and nothing out of it.
#[derive(Debug)]
pub struct Kept<B, C> {
    buffers: B,
    described: C,
}

impl<B> Kept<B, ()> {
    /// What lends nothing.
    pub(crate) fn lending_nothing(buffers: B) -> Self {
        Self { buffers, described: () }
    }
}

impl<B, C> Kept<B, C> {
    /// # Safety
    /// `described` has no loans but of memory that is in `buffers`, where it stays, however that moves.
    pub(crate) unsafe fn new(buffers: B, described: C) -> Self {
        Self { buffers, described }
    }

    /// The same buffers, and what `describe` makes of the loans.
    pub(crate) fn describe<D>(self, describe: impl FnOnce(C) -> D) -> Kept<B, D> {
        Kept { buffers: self.buffers, described: describe(self.described) }
    }

    /// The same loans, and the buffers within what `put` makes of them.
    pub(crate) fn within<A>(self, put: impl FnOnce(B) -> A) -> Kept<A, C> {
        Kept { buffers: put(self.buffers), described: self.described }
    }

    /// Both.
    pub(crate) fn and<A, D>(self, other: Kept<A, D>) -> Kept<(B, A), (C, D)> {
        Kept { buffers: (self.buffers, other.buffers), described: (self.described, other.described) }
    }

    /// What has been described.
    pub(crate) fn described(&self) -> &C {
        &self.described
    }

    /// The two.
    ///
    /// # Safety
    /// Who gets the buffers keeps them for as long as an operation may be under way that is made of the loans.
    pub(crate) unsafe fn apart(self) -> (B, C) {
        (self.buffers, self.described)
    }
}
