//! What a plan's buffers and its reduction are in one operation.

use std::cell::RefCell;

use oxmpi_datatype::Buffer;
use oxmpi_mem::Taken;
use oxmpi_op::Reducer;
use oxmpi_plan::Buf;

use crate::p2p::P2p;

/// What the roles of a plan's buffers stand for in one operation.
#[derive(Debug)]
pub struct Binding {
    /// The data that this rank contributes; in place, a part of `recv`.
    pub send: Buffer,
    /// Where this rank's result goes.
    pub recv: Buffer,
    /// How contributions are combined, where they are. The buffers of a reduction are dense.
    pub reducer: Option<Reducer>,
    /// What stands in for the user's buffers, where those cannot be used as they are.
    pub images: Option<Box<Images>>,
}

/// Packed stand-ins for buffers that have gaps.
#[derive(Debug, Default)]
pub struct Images {
    /// Copied when a run begins.
    pub before: Option<Transfer>,
    /// Copied when a run is complete.
    pub after: Option<Transfer>,
    /// The stand-ins, which go back to the pool with the run.
    pub regions: RefCell<Vec<Taken>>,
}

/// A copy between two buffers of as many packed bytes.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The source.
    pub from: Buffer,
    /// The target.
    pub into: Buffer,
}

impl Binding {
    /// The same, with the stand-ins that this one has: the engine keeps the run from now on.
    pub(crate) fn hand_over(&self) -> Self {
        let images = self.images.as_deref().map(|Images { before, after, regions }| {
            let (before, after) = (before.clone(), after.clone());
            Box::new(Images { before, after, regions: RefCell::new(regions.take()) })
        });
        Self { send: self.send.clone(), recv: self.recv.clone(), reducer: self.reducer.clone(), images }
    }

    /// The same memory, as who uses the binding again has promised it anew: by addresses that he has exposed.
    #[inline]
    pub fn renew(&mut self) {
        self.send.renew();
        self.recv.renew();
    }

    /// Where the send buffer begins in the receive buffer, if the two overlap; nothing if that cannot be said.
    pub(crate) fn within(&self) -> Option<Option<u64>> {
        let (Some(send), Some(recv)) = (self.send.as_dense(), self.recv.as_dense()) else { return None };
        if !send.overlaps(&recv) {
            return Some(None);
        }
        let begin = send.as_ptr().addr().checked_sub(recv.as_ptr().addr())?;
        Some(Some(begin as u64))
    }

    /// Whether contributions are combined by an operation of the program's own.
    pub fn calls_back(&self) -> bool {
        self.reducer.as_ref().is_some_and(Reducer::is_user)
    }

    /// How many bytes this rank sends or receives at most.
    pub fn bytes(&self) -> u64 {
        self.send.bytes().max(self.recv.bytes())
    }

    pub(crate) fn buffer(&self, buf: Buf) -> &Buffer {
        match buf {
            Buf::Send => &self.send,
            Buf::Recv => &self.recv,
            Buf::Scratch => unreachable!("scratch is always one piece"),
        }
    }

    #[inline]
    pub(crate) fn reducer(&self) -> &Reducer {
        self.reducer.as_ref().expect("a plan that reduces is bound to an operation")
    }
}

impl Transfer {
    pub(crate) fn perform(&self, p2p: &mut P2p) {
        match (self.from.as_dense(), self.into.as_dense()) {
            (Some(from), _) => self.into.write(0, &from),
            (None, Some(into)) => self.from.read(0, &into),
            (None, None) => {
                let packed = p2p.pool.take(self.from.bytes() as usize);
                self.from.read(0, &packed);
                self.into.write(0, &packed);
                p2p.pool.give(packed);
            }
        }
    }
}
