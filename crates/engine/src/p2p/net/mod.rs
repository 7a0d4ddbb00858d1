//! Messages to and from processes on other nodes: how rings go over a fabric.
//!
//! A peer on another node has a ring in each direction like any other; but the far ends of both are here, with its
//! *carrier*. What is put into the one is sent as frames, and what comes as frames is put into the other. So all
//! protocols of [`P2p`](super::P2p) are the same, and messages through shared memory pay nothing for those that go
//! further: nobody asks which kind a peer is before the ring. Cost: two copies more, of 4 KiB at most, in the caches.
//! Short messages that are there together go in one frame; a payload of more than one holds goes in two. What fills a
//! frame goes past the rings, and so does what a receive waits for ([`past`]).
//!
//! | what | how |
//! |---|---|
//! | order | frames of a pair are numbered, and taken in their order ([`carrier`]); the fabric may keep none |
//! | flow | a pair has 16 frames under way at most. A frame counts as taken when its messages have found receives, or room |
//! | receives | are the endpoint's: what comes is taken in or copied out, and they are posted again, so no peer holds up others |
//! | long messages | announced; the receiver reads the sender's memory ([`remote`]), or the sender writes the receiver's ([`opened`]), else data goes in frames |
//! | persistent operations | their messages are written into memory that was bound to them before ([`bound`]) |
//! | what a receiver wants to have of messages ([`Wish`]) | is told the other end of the ring |
//! | ends | who leaves tells those with whom anything was exchanged, after all else, and who asks. What is sent to the dead fails; who is waited for long is asked, and so found dead: lost, as one of another job |
//!
//! The door of a process that has an endpoint is always open: behind it the fabric is looked at, with every poll.
//! It costs others not even a look whether there is one.

mod addresses;
mod behind;
mod bound;
mod carrier;
mod closing;
mod direct;
mod frame;
mod offers;
mod opened;
mod outgoing;
mod past;
mod remote;
mod ringless;
mod slots;
mod together;
mod unneeded;

use oxmpi_base::{Error, ErrorClass, Ordered, Result};
use oxmpi_fabric::{Completion, Fabric, Failure, Limits, Of};
use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_shm::ring::{Header, Receiver, RingSize, Sender, Wish};
use oxmpi_shm::{Arena, Segment};

use super::{OpKey, P2p};
use crate::jobs::Whereabouts;
use crate::peers::{PeerId, Peers};
use crate::slab::{Key, Slab};
use addresses::Elsewhere;
pub(crate) use bound::BondKey;
use bound::Bonds;
use carrier::Carrier;
use frame::{
    CREDIT, EACH_BYTES, Frame, HELLO, LEAVING, LONGEST_BYTES, MOST_BYTES, PART_BYTES, PREFIX_BYTES, REST,
    RESTING, SEVERAL, VERSION, WISH, first_message,
};
use opened::Opened;
pub(super) use past::Past;
use past::SHORT_BYTES;
pub(super) use remote::LENT_BYTES;
use remote::Remote;
pub(crate) use slots::Part;

/// The endpoint of this process, and all carriers.
#[derive(Debug)]
pub(crate) struct Net {
    me: Whereabouts,
    fabric: Box<dyn Fabric>,
    /// Where processes of other nodes are, by job and rank, as far as that was told.
    addresses: Ordered<u64, Vec<Option<Elsewhere>>>,
    carriers: Vec<Carrier>,
    /// Those by which anything went or came, or is to: of thousands they may be a few, and only they are looked at.
    used: Vec<usize>,
    /// Those to and from whose peers rings are to [end](unneeded).
    unneeded: Vec<usize>,
    /// Bytes of the longest frame, and memory for frames.
    frame_bytes: usize,
    pool: Pool,
    /// That of receives, by context; those that are to be posted.
    receives: Vec<Taken>,
    idle: Vec<u64>,
    /// What the fabric sends.
    sends: Slab<Sending>,
    remote: Remote,
    bonds: Bonds,
    opened: Opened,
    completions: Vec<Completion>,
    /// How often all of these were taken in that there were.
    looks: u64,
    /// Whether this process leaves, or goes to rest.
    is_leaving: bool,
    is_resting: bool,
    /// Peers that were found to be gone, and are not lost yet.
    gone: Vec<PeerId>,
}

/// A frame that the fabric has, and whose carrier's.
#[derive(Debug)]
struct Sending {
    carrier: usize,
    frame: Taken,
    /// Whether it is a mere [`CREDIT`].
    is_word: bool,
    /// The send whose own memory is behind it.
    of: Option<OpKey>,
}

/// Receives that are posted, where there can be so many.
const RECEIVES: usize = 32;
/// Completions that are read at a time.
const AT_ONCE: usize = 64;
/// The longest frame.
const MOST_FRAME_BYTES: usize = PREFIX_BYTES + MOST_BYTES;
/// Two messages of which each takes no more than half of this go together, even if nothing is under way.
const SEVERAL_BYTES: usize = 8 << 10;
/// What is read or written goes in pieces that are not longer, so that several messages make progress, and that of a
/// message the next piece is sent while one is taken in: a socket hears of no room as long as it is written to.
const LONGEST_PIECE_BYTES: usize = 512 << 10;
/// The rings to and from a peer. No other has this size, after which nothing larger follows.
const RING: RingSize = RingSize { cells: 32, bulk_bytes: 64 << 10 };

/// The pieces of what a fabric of these limits reads or writes.
fn piece_bytes(limits: Limits) -> usize {
    limits.remote_bytes.min(LONGEST_PIECE_BYTES)
}

impl Net {
    /// # Errors
    /// `Other` if the fabric does not carry frames.
    fn new(me: Whereabouts, fabric: Box<dyn Fabric>) -> Result<Self> {
        let limits = fabric.limits();
        if limits.message_bytes < LONGEST_BYTES || limits.receives == 0 || limits.under_way == 0 {
            let text =
                format!("a fabric must carry messages of {LONGEST_BYTES} bytes; this one has {limits:?}");
            return Err(Error::new(ErrorClass::Other, text));
        }
        let frame_bytes = limits.message_bytes.min(MOST_FRAME_BYTES);
        let mut pool = Pool::default();
        let count = limits.receives.min(RECEIVES);
        Ok(Self {
            me,
            addresses: Ordered::new(),
            carriers: Vec::new(),
            used: Vec::new(),
            unneeded: Vec::new(),
            frame_bytes,
            receives: (0..count).map(|_| pool.take(frame_bytes)).collect(),
            idle: (0..count as u64).collect(),
            pool,
            sends: Slab::new(),
            remote: Remote::new(piece_bytes(limits)),
            bonds: Bonds::new(limits.remote_bytes),
            opened: Opened::default(),
            completions: Vec::new(),
            looks: 0,
            is_leaving: false,
            is_resting: false,
            gone: Vec::new(),
            fabric,
        })
    }

    /// Whether long messages are written by their senders, rather than read by their receivers.
    fn writes_long(&self) -> bool {
        let limits = self.fabric.limits();
        limits.tells_writes && limits.remote_bytes != 0 && !limits.reads_alone
    }

    /// What a frame has of a payload.
    pub(super) fn part_bytes(&self) -> usize {
        let has_room = self.frame_bytes >= PREFIX_BYTES + RingSize::LARGEST_PAYLOAD;
        if has_room { RingSize::LARGEST_PAYLOAD } else { PART_BYTES }
    }

    /// Looks at a carrier from now on.
    fn use_carrier(&mut self, carrier: usize) -> &mut Carrier {
        let one = &mut self.carriers[carrier];
        if !std::mem::replace(&mut one.is_listed, true) {
            self.used.push(carrier);
        }
        one
    }

    /// Those that are looked at.
    fn used(&self) -> impl Iterator<Item = &Carrier> {
        self.used.iter().map(|&carrier| &self.carriers[carrier])
    }

    /// Posts the receives that are not posted.
    fn post_receives(&mut self) {
        let Self { fabric, receives, idle, .. } = self;
        idle.retain(|&context| !fabric.receive(*receives[context as usize], context).is_accepted());
    }

    /// What has come in a receive, which is to be posted again when that is taken; whether it was more than a word that
    /// its sender is there and has taken so much.
    fn received(&mut self, context: u64, bytes: usize, failure: Option<Failure>, peers: &mut Peers) -> bool {
        let Some(memory) = self.receives.get(context as usize) else { return false };
        let message = memory.part(0, bytes.min(memory.len()));
        let came = Frame::read(&message).filter(|_| failure.is_none());
        // Nobody else is listened to but who is on a node that this process was told of.
        let from = came.as_ref().and_then(|(frame, _)| self.meet(frame.from, peers)?.ok());
        let (Some((frame, payload)), Some(from)) = (came, from) else {
            self.idle.push(context);
            return false;
        };
        let carrier = peers[from].carrier();
        if !carrier.is_some_and(|carrier| self.use_carrier(carrier).arrived(&frame, &payload, context)) {
            self.idle.push(context);
        }
        frame.header.kind != CREDIT
    }

    /// Deals with some of what is over, `most` at most: how many things were, and whether any was more than a word.
    fn read_completions(&mut self, most: usize, peers: &mut Peers) -> (usize, bool) {
        let mut completions = std::mem::take(&mut self.completions);
        self.fabric.completions(most, &mut completions);
        let (count, mut any) = (completions.len(), false);
        for Completion { of, failure } in completions.drain(..) {
            any |= match of {
                Of::Received(context, bytes) => self.received(context, bytes, failure, peers),
                Of::Sent(context) => self.sent(Key::from_word(context), failure),
                Of::Read(context) => {
                    let gone = self.remote.note_read(context, failure);
                    gone.into_iter().for_each(|peer| self.note_gone(peer));
                    true
                }
                Of::Told(number) => {
                    if !self.opened.note_told(number) {
                        self.bonds.note_told(number);
                    }
                    true
                }
                Of::Written(context) => {
                    let gone = self.bonds.note_written(context, failure, &mut self.pool);
                    gone.into_iter().for_each(|peer| self.note_gone(peer));
                    true
                }
            };
        }
        self.completions = completions;
        (count, any)
    }

    /// Whether the peers have all that was to be told them.
    fn is_quiet(&self) -> bool {
        self.used().all(Carrier::is_quiet) && self.bonds.is_quiet()
    }
}

impl Carrier {
    /// Sees to it that there is a ring from the peer, if there is memory; whether there is.
    fn make_ring_from(&mut self, segment: &'static Segment, peers: &mut Peers, arena: &mut Arena) -> bool {
        if self.into.is_none() {
            let made = arena.take(RING.bytes()).and_then(|block| {
                let sender = Sender::make(segment, block, RING)?;
                Ok((sender, block, Receiver::at(segment, block.offset, RING)?))
            });
            let Ok((sender, block, receiver)) = made else { return false };
            self.into = Some((sender, block));
            peers[self.peer].receiver = Some(receiver);
            peers.list(self.peer);
        }
        true
    }
}

impl P2p {
    /// How the host of a peer is called, if the fabric knows.
    pub(crate) fn host_of(&self, peer: PeerId) -> Option<String> {
        let (net, carrier) = (self.net.as_ref()?, self.peers[peer].carrier()?);
        net.fabric.host(net.carriers.get(carrier)?.target)
    }

    /// Why a peer is not reached though it may be there, if the fabric knows.
    pub(crate) fn obstacle_to(&self, peer: PeerId) -> Option<Error> {
        let (net, carrier) = (self.net.as_ref()?, self.peers[peer].carrier()?);
        net.fabric.obstacle(net.carriers.get(carrier)?.target)
    }

    /// Bytes of frames, and of what is packed for the network, that there ever were at the same time.
    pub fn carried_bytes(&self) -> usize {
        self.net.as_ref().map_or(0, |net| net.pool.peak_bytes())
    }

    /// As [`P2p::bring_in`], of a peer that may be on another node.
    pub(crate) fn bring_in_from(&mut self, peer: PeerId) -> bool {
        self.peers[peer].carrier().is_some_and(|carrier| self.bring_in(carrier))
    }

    /// Takes in what has come from a peer, as far as it is its turn and there is room; whether there was anything.
    fn bring_in(&mut self, carrier: usize) -> bool {
        let mut any = false;
        while let Some(net) = &mut self.net
            && let Some((header, payload)) = net.carriers[carrier].next_here()
        {
            let gone_in = net.carriers[carrier].gone_in;
            let is_taken = self.bring_in_frame(carrier, &header, payload);
            let Some(net) = &mut self.net else { break };
            any |= is_taken || net.carriers[carrier].gone_in != gone_in;
            if !is_taken {
                break;
            }
            net.carriers[carrier].note_taken(&mut net.pool, &mut net.idle);
        }
        if let Some(net) = &mut self.net {
            net.carriers[carrier].clear_receives(&mut net.pool, &mut net.idle);
        }
        any
    }

    /// Takes in a frame whose turn it is, if there is room.
    fn bring_in_frame(&mut self, carrier: usize, header: &Header, payload: [Region; 2]) -> bool {
        let Self { net: Some(net), peers, .. } = self else { return false };
        let one = &mut net.carriers[carrier];
        match header.kind {
            // What follows would not be understood.
            REST => one.is_not_understood(&mut net.gone),
            HELLO if header.token != VERSION => one.is_not_understood(&mut net.gone),
            HELLO => true,
            WISH => {
                one.asked = wish_of(header.token);
                one.out.iter().for_each(|out| out.ask_for(one.asked));
                true
            }
            LEAVING => {
                let peer = one.peer;
                peers.note_leaving(peer);
                one.has_left = !peers.is_part_elsewhere(peer);
                self.closed_by_leaving(peer);
                true
            }
            RESTING => {
                one.note_rest();
                true
            }
            SEVERAL => self.deliver_several(carrier, &payload[0]),
            _ => self.deliver(carrier, header, payload),
        }
    }

    /// Takes in several messages, as far as they have not been yet, if there is room for all that are left.
    fn deliver_several(&mut self, carrier: usize, messages: &Region) -> bool {
        loop {
            let Some(net) = &mut self.net else { return false };
            let one = &mut net.carriers[carrier];
            if one.gone_in == messages.len() {
                one.gone_in = 0;
                return true;
            }
            let left = messages.part(one.gone_in, messages.len() - one.gone_in);
            let Some((header, payload)) = first_message(&left) else {
                return one.is_not_understood(&mut net.gone);
            };
            if !self.deliver(carrier, &header, [payload, Region::EMPTY]) {
                return false;
            }
            self.net.iter_mut().for_each(|net| net.carriers[carrier].gone_in += EACH_BYTES + payload.len());
        }
    }

    /// Takes in a message, or puts it into the ring from the peer, if there is room.
    fn deliver(&mut self, carrier: usize, header: &Header, [payload, rest]: [Region; 2]) -> bool {
        let Self { net: Some(net), peers, arena, .. } = self else { return false };
        let (segment, one) = (peers.job().segment(), &mut net.carriers[carrier]);
        let (peer, is_new) = (one.peer, one.into.is_none());
        if !one.make_ring_from(segment, peers, arena) {
            return self.take_without_ring(peer, header, [payload, rest]);
        }
        if is_new {
            self.note_if_unneeded(peer);
        }
        if rest.is_empty() && self.take_past_ring(peer, header, &payload) {
            return true;
        }
        let Some(net) = &mut self.net else { return false };
        let (one, bytes) = (&mut net.carriers[carrier], payload.len() + rest.len());
        if bytes > RingSize::LARGEST_PAYLOAD {
            return one.is_not_understood(&mut net.gone);
        }
        let Some(room) = one.into.as_mut().and_then(|(sender, _)| sender.room(bytes)) else { return false };
        room.payload.part(0, payload.len()).copy_from(&payload);
        room.payload.part(payload.len(), rest.len()).copy_from(&rest);
        room.send(*header);
        true
    }

    /// Reaches processes on other nodes by this endpoint from now on.
    ///
    /// # Errors
    /// `Other` if it does not carry frames, or there is one already.
    pub(crate) fn join_fabric(&mut self, fabric: Box<dyn Fabric>) -> Result<()> {
        if self.net.is_some() {
            return Err(Error::new(ErrorClass::Other, "this process has an endpoint of a fabric already"));
        }
        self.net = Some(Box::new(Net::new(self.peers.myself(), fabric)?));
        self.rings.doorway.remind();
        Ok(())
    }

    /// Whether this process has an endpoint.
    pub(crate) fn has_fabric(&self) -> bool {
        self.net.is_some()
    }

    /// Whether others may read or write memory of this process, by the fabric.
    pub(crate) fn lends_over_fabric(&self) -> bool {
        self.net
            .as_ref()
            .is_some_and(|net| net.remote.lends() || net.bonds.have_opened() || net.opened.is_any())
    }

    /// Where others reach this process.
    pub(crate) fn fabric_address(&self) -> Option<Vec<u8>> {
        self.net.as_ref().map(|net| net.fabric.address())
    }

    /// A ring to a peer on another node.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for it.
    pub(super) fn make_ring_over_fabric(&mut self, to: PeerId, carrier: usize) -> Result<bool> {
        let (mut sender, block) = self.make_ring(RING)?;
        let out = Receiver::at(self.peers.job().segment(), block.offset, RING)?;
        if let Some(net) = &mut self.net {
            let one = net.use_carrier(carrier);
            out.ask_for(one.asked);
            one.out = Some(out);
        }
        sender.be_eager_below(SHORT_BYTES as u64 + 1);
        let peer = &mut self.peers[to];
        (peer.sender, peer.block) = (Some(sender), Some(block));
        self.note_if_unneeded(to);
        Ok(true)
    }

    /// Moves on what goes over the fabric; whether anything did.
    #[cold]
    pub(super) fn serve_fabric(&mut self) -> bool {
        let mut any = false;
        let Self { net: Some(net), peers, rings, .. } = self else { return false };
        rings.doorway.remind();
        // To look at what has come takes a call of the system, perhaps, for which nothing waits that is to be told.
        any |= net.send_off();
        // All that has come: who is found to be gone now may have told much before.
        loop {
            net.post_receives();
            let (count, moved) = net.read_completions(AT_ONCE, peers);
            any |= moved;
            if count < AT_ONCE {
                break;
            }
        }
        net.looks += 1;
        // What has been read is answered, before its receiver, perhaps, computes for long.
        any |= self.serve_remote();
        any |= self.serve_opened();
        any |= self.serve_carriers();
        any | self.serve_bonds()
    }

    /// Takes in what has come, and sends what there is; whether there was anything.
    fn serve_carriers(&mut self) -> bool {
        let (mut any, mut place) = (false, 0);
        while let Some(net) = &mut self.net
            && let Some(&carrier) = net.used.get(place)
        {
            if net.carriers[carrier].has_work(net.is_leaving, net.is_resting) {
                any |= self.bring_in(carrier);
                any |= self.net.as_mut().is_some_and(|net| net.send_out(carrier));
            }
            place += 1;
        }
        any
    }

    /// Whether all that goes over the fabric is with its receivers.
    pub fn has_carried_all(&self) -> bool {
        self.net.as_ref().is_none_or(|net| net.is_quiet())
    }

    /// Peers on other nodes that were found not to be there any more, or not to be understood; once.
    pub(crate) fn take_unreached(&mut self) -> Vec<PeerId> {
        self.net.as_mut().map_or_else(Vec::new, |net| std::mem::take(&mut net.gone))
    }

    /// Tells the peers on other nodes with whom anything was exchanged, or is, that this process leaves.
    pub(crate) fn tell_of_leaving(&mut self) {
        self.net.iter_mut().for_each(|net| net.is_leaving = true);
    }

    /// This process, which has left, is in use again: who hears of it from now on hears nothing of that.
    pub(crate) fn come_back(&mut self) {
        if let Some(net) = &mut self.net {
            net.is_leaving = false;
            net.carriers.iter_mut().for_each(|carrier| carrier.knows_of_leaving = false);
        }
    }

    /// Tells the peers on other nodes with whom anything was exchanged that this process goes to rest: who does not
    /// rest itself is to say that it has taken all that was sent to it. Or this process goes on.
    pub fn go_to_rest(&mut self, rests: bool) {
        self.net.iter_mut().for_each(|net| net.is_resting = rests);
    }

    /// The peers on other nodes that have not said so yet. Whoever ends before takes with it what is on its way.
    pub fn kept_from_rest(&self) -> impl Iterator<Item = PeerId> {
        let carriers = self.net.iter().flat_map(|net| net.used());
        carriers.filter(|carrier| !carrier.lets_rest()).map(|carrier| carrier.peer)
    }

    /// The peers on other nodes to which something is on its way. One that takes nothing more may be gone.
    pub(crate) fn undelivered(&self) -> impl Iterator<Item = PeerId> {
        let carriers = self.net.iter().flat_map(|net| net.used());
        carriers.filter(|carrier| !carrier.is_quiet()).map(|carrier| carrier.peer)
    }

    /// Finds out whether a peer on another node is there, and whether it leaves: it may never be sent anything else.
    /// One with which nothing was exchanged is asked only if it `is_worth` a connection.
    pub(crate) fn ask_whether_there(&mut self, peer: PeerId, is_worth: bool) {
        if let (Some(carrier), Some(net)) = (self.peers[peer].carrier(), &mut self.net) {
            let carrier = net.use_carrier(carrier);
            carrier.is_asked |= is_worth || carrier.is_used();
        }
    }

    /// Ends the rings to and from a peer on another node that is lost.
    pub(crate) fn end_carrying(&mut self, peer: PeerId) {
        let opened = self.net.as_mut().map(|net| net.bonds.lose_opened(peer));
        opened.into_iter().flatten().for_each(|context| self.close_unless_open(context));
        let Self { net: Some(net), peers, .. } = self else { return };
        let Some(carrier) = peers[peer].carrier() else { return };
        let places = net.bonds.lose(peer).into_iter().chain(net.opened.lose(peer));
        places.for_each(|place| net.fabric.unregister(place));
        net.forget_together(peer);
        net.carriers[carrier].end(&mut net.pool, &mut net.idle);
        self.end_rings_over_fabric(carrier);
    }
}

impl Net {
    /// A frame has left, or its receiver is gone; whether that is more than a word that has left.
    fn sent(&mut self, key: Key<Sending>, failure: Option<Failure>) -> bool {
        let Some(Sending { carrier, frame, is_word, of }) = self.sends.remove(key) else { return false };
        self.pool.give(frame);
        of.into_iter().for_each(|send| self.bonds.direct.note_written(send, failure));
        let carrier = &mut self.carriers[carrier];
        carrier.posted -= 1;
        if failure.is_some() {
            carrier.note_gone(&mut self.gone);
        }
        failure.is_some() || !is_word
    }

    fn note_gone(&mut self, peer: PeerId) {
        let Self { carriers, gone, .. } = self;
        let of_peer = carriers.iter_mut().find(|carrier| carrier.peer == peer);
        of_peer.into_iter().for_each(|carrier| carrier.note_gone(gone));
    }
}

fn wish_of(token: u64) -> Wish {
    match token {
        0 => Wish::Whole,
        1 => Wish::Announced,
        _ => Wish::Shown,
    }
}
