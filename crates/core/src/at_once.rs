//! Messages that are begun at once, or not at all.
//!
//! Most calls are right, and for one message to or from a rank; most messages that are sent are gone at once, and most
//! receives are posted. To do just that takes a fraction of what it takes to be ready for everything else. Where it is
//! not to be done so, nothing has happened, and what is general says what is to be said.
//!
//! MPI-5.0: Point-to-Point Communication.

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, Pattern};
use oxmpi_mem::Region;
use oxmpi_mem::reserve::Growth;

use crate::comm::Communicator;
use crate::envelope::TagPattern;
use crate::process::Process;
use crate::progress::LONG_BYTES;
use crate::request::RequestKey;

impl Process {
    /// As [`Process::send`] in the standard mode to rank `dest`, if the message is gone at once; whether it is.
    #[inline(always)] // so that the few words of a message are in registers
    pub fn send_at_once(&self, comm: &Communicator, from: Region, dest: i32, tag: i32) -> bool {
        let Some(to) = comm.member(dest).filter(|_| tag >= 0) else { return false };
        let mut state = self.enter();
        let rank = comm.rank().cast_signed();
        let is_gone = state.engine.p2p.send_at_once(to, rank, tag, &Buffer::dense(from));
        if is_gone {
            self.leave_complete(state);
        }
        is_gone
    }

    /// As [`Process::isend`] in the standard mode to rank `dest`, if the message is gone at once.
    #[inline(always)]
    pub fn isend_at_once(
        &self,
        comm: &Communicator,
        from: Region,
        dest: i32,
        tag: i32,
    ) -> Option<RequestKey> {
        let to = comm.member(dest).filter(|_| tag >= 0)?;
        let mut state = self.enter();
        if state.requests.origins.are_kept() || !state.has_memory(Growth::None) {
            return None;
        }
        let rank = comm.rank().cast_signed();
        let is_gone = state.engine.p2p.send_at_once(to, rank, tag, &Buffer::dense(from));
        is_gone.then(|| state.add_complete(comm))
    }

    /// As [`Process::irecv`] from rank `source`, if the message has not come yet.
    #[inline(always)]
    pub fn irecv_at_once(
        &self,
        comm: &Communicator,
        into: Region,
        source: i32,
        tag: TagPattern,
    ) -> Option<RequestKey> {
        let tag = match tag {
            TagPattern::Any => None,
            TagPattern::Tag(tag @ 0..) => Some(tag),
            TagPattern::Tag(_) => return None,
        };
        let from = comm.member(source)?.peer;
        let mut state = self.enter();
        if into.len() as u64 >= LONG_BYTES && state.absence.is_some() {
            return None; // a thread may have to move it on
        }
        let is_plain = !state.requests.origins.are_kept() && state.has_memory(state.engine.p2p.growth());
        if !is_plain || !state.engine.p2p.has_no_unexpected(comm.context) {
            return None;
        }
        Some(state.post(comm, Pattern { source: Some(source), tag }, from, into))
    }
}

impl Communicator {
    /// The rank of whom messages are sent to, and received from, if there is one.
    #[inline(always)]
    fn member(&self, rank: i32) -> Option<Address> {
        self.addresses.get(usize::try_from(rank).ok()?)
    }
}
