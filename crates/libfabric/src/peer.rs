//! What there is to know of a peer.

use std::time::Instant;

use crate::silence::Silence;

/// See the module.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Its address, and what libfabric calls it.
    pub name: Box<[u8]>,
    pub number: u64,
    pub under_way: usize,
    /// Something has come to it.
    pub was_reached: bool,
    /// Something could not: it has died, or what it should have got is lost.
    pub is_gone: bool,
    /// It is there, perhaps, but there is no memory here for what goes to it.
    pub lacks_memory: bool,
    /// It takes nothing though nothing is under way to it.
    silent: Option<Silence>,
}

/// What is to be said of a peer that takes nothing and is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// There is no memory here.
    Lack,
    /// Its system answers nothing.
    Unanswered,
}

impl Peer {
    pub(crate) fn new(name: &[u8], number: u64) -> Self {
        Self {
            name: name.into(),
            number,
            under_way: 0,
            was_reached: false,
            is_gone: false,
            lacks_memory: false,
            silent: None,
        }
    }

    /// Something is under way to it.
    pub(crate) fn count(&mut self) {
        (self.under_way, self.silent) = (self.under_way + 1, None);
    }

    /// It takes nothing now, for want of memory or for another reason. Looks whether it is there: providers that make
    /// connections as they are needed make them again for ever. Where memory is lacking for long it is gone as well,
    /// unless something is under way to anybody, which may give some back.
    pub(crate) fn doubt(&mut self, is_over_tcp: bool, is_alone: bool, is_lack: bool) -> Option<Doubt> {
        if self.under_way != 0 {
            return None;
        }
        let now = Instant::now();
        let silence = self.silent.get_or_insert_with(|| Silence::new(now));
        silence.note_refused(now, is_lack);
        if silence.is_lack() {
            (self.is_gone, self.lacks_memory) = (is_alone, is_alone);
            return (!is_alone).then_some(Doubt::Lack);
        }
        let says_anything = Silence::says_anything(is_over_tcp, self.under_way);
        self.is_gone = says_anything && silence.is_end(self.was_reached, &self.name);
        (says_anything && !self.is_gone && silence.is_unanswered()).then_some(Doubt::Unanswered)
    }
}
