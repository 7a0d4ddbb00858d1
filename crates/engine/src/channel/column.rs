//! The lines on which a member posts one line of a plan, run by run.

use oxmpi_plan::Peer;
use oxmpi_shm::Line;

use super::{Channel, Turn};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    lines: &'static [Line],
    is_first: bool,
}

impl Column {
    /// The line of a run.
    #[inline]
    pub(crate) fn of(&self, turn: Turn) -> &'static Line {
        // Lines behind the first are a power of two.
        let place = if self.is_first {
            turn.line as usize - 1
        } else {
            turn.number as usize & (self.lines.len() - 1)
        };
        &self.lines[place]
    }
}

impl Channel {
    /// Those of a member, if it shows them here.
    pub(crate) fn column(&self, member: Peer, line: u8) -> Option<Column> {
        let lines = self.shown.get(self.place(member))?.get(self.form.column(line))?;
        Some(Column { lines, is_first: line == 0 })
    }
}
