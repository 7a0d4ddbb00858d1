//! What goes past the rings: the data that follows an announcement ([`ahead`](crate::p2p::ahead)).
//!
//! Where a frame has room for both, the announcement goes with it: one message of the fabric instead of two. Then the
//! frame has a number, and what is before the data is taken as a frame of its own. But that of which the data is only
//! the beginning goes before it: its receiver is to ask for the rest while the beginning comes.

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;

use super::frame::{AHEAD, ALONG_BYTES, Frame, SEVERAL, UNNUMBERED};
use super::{Net, Several};
use crate::p2p::P2p;
use crate::peers::{PeerId, Peers};

/// The data of an announced message, with its number, in the receive with this context.
#[derive(Debug)]
pub(super) struct Came {
    from: PeerId,
    number: u64,
    data: Region,
    context: u64,
}

impl Net {
    /// Sends the data of an announced message behind its announcement, or that there is none, if there is room.
    pub(in crate::p2p) fn send_ahead(
        &mut self,
        carrier: usize,
        number: u64,
        data: Option<&Buffer>,
        is_beginning: bool,
    ) -> bool {
        let header = Header { kind: AHEAD, token: number, ..Header::default() };
        let fill = |into: &Region| data.into_iter().for_each(|data| data.read(0, into));
        let bytes = data.map_or(0, Buffer::bytes) as usize;
        if !is_beginning && let Some((frame, several)) = self.goes_along(carrier) {
            let header = Header { bytes: several.bytes as u64, ..header };
            return self.post_several(carrier, frame, header, several, (bytes, fill));
        }
        self.send_out(carrier);
        self.carriers[carrier].is_gone() || self.post_filled(carrier, UNNUMBERED, header, [bytes, 0], fill)
    }

    /// The number of the next frame to a peer, and all that the ring to it has, if that can go before data in it.
    fn goes_along(&mut self, carrier: usize) -> Option<(u64, Several)> {
        let one = &mut self.carriers[carrier];
        let number =
            one.next_number().filter(|_| one.gone_out == 0 && !one.is_new() && !one.has_another_wish())?;
        let several = one.together(ALONG_BYTES);
        let is_all = one.out.as_ref()?.arrivals().nth(several.count).is_none();
        (several.count > 0 && is_all).then_some((number, several))
    }

    /// Data has come, whose receive is to be posted again when it is taken in; whether it was some.
    pub(super) fn data_arrived(
        &mut self,
        from: PeerId,
        frame: &Frame,
        payload: &Region,
        context: u64,
        peers: &Peers,
    ) -> bool {
        let along = frame.header.bytes as usize;
        let carrier = peers[from].carrier().map(|carrier| &mut self.carriers[carrier]);
        let Some(carrier) = carrier.filter(|_| along <= payload.len()) else {
            self.idle.push(context);
            return false;
        };
        let (messages, data) = (payload.part(0, along), payload.part(along, payload.len() - along));
        match frame.number {
            UNNUMBERED => carrier.heard(frame),
            _ => {
                let header = Header { kind: SEVERAL, ..Header::default() };
                let before = Frame { header, payload_bytes: along as u32, ..*frame };
                carrier.arrived(&before, &messages, &mut self.pool);
            }
        }
        if carrier.is_ended() {
            self.idle.push(context);
            return false;
        }
        self.ahead.push(Came { from, number: frame.header.token, data, context });
        true
    }
}

impl P2p {
    /// Takes in the data of announced messages that came when this was done last: by now the rings have been looked
    /// at, where most of the announcements were. Whether there was any.
    pub(in crate::p2p) fn take_in_ahead(&mut self) -> bool {
        self.take_in_ahead_if(|_| true)
    }

    /// The same of one peer, whose ring alone has been looked at.
    pub(in crate::p2p) fn take_in_ahead_of(&mut self, peer: PeerId) -> bool {
        self.take_in_ahead_if(|came| came.from == peer)
    }

    fn take_in_ahead_if(&mut self, is_due: impl Fn(&Came) -> bool) -> bool {
        let mut any = false;
        while let Some(net) = &mut self.net
            && let Some(place) = net.ahead.iter().position(&is_due)
        {
            let Came { from, number, data, context } = net.ahead.remove(place);
            self.ahead_arrived(from, number, &data);
            self.net.iter_mut().for_each(|net| net.idle.push(context));
            any = true;
        }
        any
    }
}
