//! Letters that have come to this process, and that nobody has read.
//!
//! A letter is told apart from the messages of collectives by its tag, from other letters by its subject, which is
//! how it begins; see `correspondence`.

use std::mem;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, OpKey, P2p, Pattern, PeerId, Received};
use oxmpi_mem::Taken;

/// The tag of letters: collectives have none below 0.
const TAG: i32 = -1;
/// Their source: who writes one may have no rank that its reader knows.
const NO_RANK: i32 = 0;

/// See the module.
#[derive(Debug)]
pub(crate) struct Letters {
    /// Where processes meet that share no communicator: the same context in all.
    meeting_context: u32,
    /// In the order in which they came.
    unread: Vec<Letter>,
}

#[derive(Debug)]
struct Letter {
    context: u32,
    /// The writer.
    from: PeerId,
    /// The subject, and what is told.
    text: Text,
}

#[derive(Debug)]
enum Text {
    Arriving(OpKey, Taken),
    Here(Vec<u8>),
}

impl Letters {
    /// None yet.
    pub(crate) fn new(meeting_context: u32) -> Self {
        Self { meeting_context, unread: Vec::new() }
    }

    /// The context to which letters go between processes that share no communicator.
    pub(crate) fn meeting_context(&self) -> u32 {
        self.meeting_context
    }

    /// Writes one.
    pub(super) fn write(p2p: &mut P2p, to: Address, subject: &[u8], told: &[u8]) {
        let letter = p2p.pool.take(subject.len() + told.len());
        letter.write(&[subject, told].concat());
        p2p.send_copy(to, NO_RANK, TAG, &Buffer::dense(*letter));
        p2p.pool.give(letter);
    }

    /// Takes in what has come to a context.
    pub(super) fn collect(&mut self, p2p: &mut P2p, context: u32) {
        while let Some(message) = p2p.take_message(context, &Pattern { source: None, tag: Some(TAG) }) {
            let (from, (.., bytes)) = (message.from(), message.envelope());
            let memory = p2p.pool.take(bytes as usize);
            let text = match p2p.receive_message(message, Buffer::dense(*memory)) {
                Received::Done(_) => Text::taken(memory, p2p),
                Received::Pending(op) => Text::Arriving(op, memory),
            };
            self.unread.push(Letter { context, from, text });
        }
    }

    /// What the first letter on a subject tells that has come from a process to a context, if it is here.
    pub(super) fn take(
        &mut self,
        p2p: &mut P2p,
        context: u32,
        subject: &[u8],
        from: PeerId,
    ) -> Option<Vec<u8>> {
        for (place, letter) in self.unread.iter_mut().enumerate() {
            if (letter.context, letter.from) != (context, from) {
                continue;
            }
            // As long as one is arriving nobody knows whether it is the one.
            let told = letter.text.arrived(p2p)?.strip_prefix(subject);
            if let Some(told) = told.map(<[u8]>::to_vec) {
                self.unread.remove(place);
                return Some(told);
            }
        }
        None
    }

    /// Whether the beginning of a letter of this process has come, and not all of it.
    pub(super) fn is_arriving(&self, from: PeerId) -> bool {
        self.unread.iter().any(|letter| letter.from == from && matches!(letter.text, Text::Arriving(..)))
    }
}

impl Text {
    fn taken(memory: Taken, p2p: &mut P2p) -> Self {
        let text = memory.to_vec();
        p2p.pool.give(memory);
        Self::Here(text)
    }

    /// All of it, if it has arrived.
    fn arrived(&mut self, p2p: &mut P2p) -> Option<&[u8]> {
        if let Self::Arriving(op, memory) = self {
            let outcome = p2p.take_outcome(*op)?;
            *self = Self::taken(mem::replace(memory, Taken::EMPTY), p2p);
            if outcome.error.is_some() {
                *self = Self::Here(Vec::new()); // cut off, and on no subject
            }
        }
        match self {
            Self::Arriving(..) => None,
            Self::Here(text) => Some(text),
        }
    }
}
