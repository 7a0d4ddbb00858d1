//! What a run waits for.

use oxmpi_shm::Line;

use super::sequence::is_shown;

/// A post of a peer that has not been there yet.
#[derive(Clone, Copy, Debug)]
pub struct Awaits {
    pub(super) line: &'static Line,
    pub(super) sequence: u64,
}

impl Awaits {
    /// That what was posted is posted again elsewhere: whoever waits for it looks again at times.
    pub(super) const ANOTHER_PLACE: u64 = u64::MAX;

    /// Whether it is there. As long as it is not, nothing else can move the run on.
    #[inline]
    pub fn has_come(&self) -> bool {
        self.sequence != Self::ANOTHER_PLACE && is_shown(self.line, self.sequence)
    }
}
