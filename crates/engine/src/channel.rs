//! A channel: what the runs of one communicator's collectives, or of one persistent collective, share.
//!
//! Runs of a channel are numbered alike on all ranks: by the order of the calls on the communicator, or by the
//! Starts of the persistent operation. Each rank owns lines for some runs, as many as its [`Form`] says, and one line
//! on which it shows how many runs it has completed. A rank may post in run `k` only when all ranks have completed run
//! `k` less that many, whose lines it then writes again: the *credit* (`credit`). Every post says how many runs its
//! rank has completed, so where all pull from all nothing needs to be looked up; else it is looked up only when what
//! was seen before does not suffice, once in several runs.
//!
//! What does not fit into a line lies in a block of the rank's arena, which comes back the same way (`staged`). All of
//! it comes back when all members have left: see the module `left`.
//!
//! With every post travels what its rank believes to be doing (see the module `call`), and each rank notes it beside
//! its lines too: for those who wait for a post that does not come, and to say in what earlier runs ranks differed.
//!
//! The channel of an intercommunicator has the members of two groups. Lines and credit are those of all members:
//! a member has a *place*, that of its rank in this rank's group, or behind that group in the order of the other.

mod column;
mod credit;
mod quarrel;
mod readers;
mod staged;

use oxmpi_base::{Ordered, Result};
use oxmpi_mem::Region;
use oxmpi_plan::{Action, Buf, Peer, Plan, Step};
use oxmpi_shm::{CALLS, Calls, Line, Segment};

use crate::addresses::Addresses;
use crate::binding::Binding;
use crate::call::{Call, Called};
use crate::left::{Left, Stay};
use crate::lines::{Departing, Form, Lines};
use crate::matching::{Source, source};
use crate::p2p::{Address, BondKey, P2p, Part};
use crate::peers::{PeerId, Peers};
use crate::shown::Shown;
use crate::signature::{Signature, Signed};
pub(crate) use column::Column;
pub(crate) use quarrel::Quarrel;
use readers::Readers;
pub(crate) use readers::Taking;
use staged::Staging;

/// Where the members of a new channel are to be found.
#[derive(Clone, Debug)]
pub struct ChannelPlan {
    /// This rank's rank among the members.
    pub rank: u32,
    /// The process of each member, and the channel's context there.
    pub members: Addresses,
    /// The same of an intercommunicator's remote group; else nobody.
    pub remote: Addresses,
    /// This process's context for messages of the same communicator, which ends with the channel.
    pub beside: Option<u32>,
    /// Offset of the lines of each member, in the segment of its job, those of the remote group last. Those of members
    /// on other nodes are not looked at. None where no members share memory, or there is one only.
    pub lines: Vec<u64>,
    /// How much all members show.
    pub form: Form,
}

/// See the module.
#[derive(Debug)]
pub struct Channel {
    rank: u32,
    context: u32,
    members: Addresses,
    /// The remote group; of an intracommunicator nobody.
    remote: Addresses,
    /// What each member shows, by place; nothing if they have no lines.
    shown: Shown,
    /// What this rank shows.
    mine: &'static [Line],
    /// Where it notes what it calls, if it does.
    calls: Option<&'static Calls>,
    form: Form,
    /// Where what this rank posts lies, if that is long.
    segment: &'static Segment,
    /// The same of each member, by place, where some are of other jobs: else one look tells, too, that nobody sleeps.
    segments: Vec<&'static Segment>,
    /// The other member, if there are two, who see the same segment.
    other: Option<PeerId>,
    /// What this rank has called lately, if some are on other nodes, which cannot look it up. Who leaves tells them.
    told: Option<Box<[u64; CALLS]>>,
    /// With what types it has, where these are compared.
    signed: Option<Box<Signed>>,
    /// A hash of the calls so far.
    history: u64,
    /// All runs below this number in which ranks differed have been told of as much as they will be.
    quarrelled: u64,
    /// Of all runs below this number members on other nodes were asked what they called, if that was in doubt.
    inquired: u64,
    /// Members that do something else, and in which run: they are not waited for there.
    strangers: Vec<(u64, Peer)>,
    /// This rank's lines, to be given back in the end.
    own: Option<Lines>,
    /// Number of the next run to begin, and where its first line is.
    next: u64,
    next_line: u32,
    /// Runs completed here: all below this number, and those of the set.
    completed: u64,
    completed_ahead: Ordered<u64, ()>,
    /// Runs completed here whose members may read where this rank's data is.
    lending: u64,
    /// Runs that all ranks are known to have completed: all below this number.
    completed_by_all: u64,
    /// All runs below this number may be posted in, on the first line.
    granted: u64,
    /// The same by place: what the member's posts have said. Empty as long as none has.
    completed_by: Vec<u64>,
    staging: Staging,
    /// Members that are lost.
    lost: Ordered<PeerId, ()>,
    /// The context for messages that ends with the channel.
    beside: Option<u32>,
    /// By what the messages of each step of the plan go, if the channel is bound to one.
    bonds: Vec<Option<BondKey>>,
    /// What is known of those who read what this rank posts, if that is long.
    readers: Option<Box<Readers>>,
}

/// A run of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub number: u64,
    /// Where its first line is, among those of a member.
    pub line: u32,
}

/// Tags of messages in runs, which are counted on from 0 behind the last.
const TAGS: u64 = i32::MAX as u64;

impl Channel {
    /// # Errors
    /// `NoMem` if there is no address space for the lines of all members.
    pub(crate) fn new(peers: &Peers, plan: ChannelPlan, own: Option<Lines>) -> Result<Self> {
        let ChannelPlan { rank, members, remote, beside, lines, form } = plan;
        let all = || members.iter().chain(remote.iter());
        let is_of_job = all().all(|at| peers.is_of_job(at.peer));
        let segment = |at: Address| peers.seat(at.peer).segment();
        let is_elsewhere = |at: Address| peers.is_elsewhere(at.peer);
        let shown = match (lines.is_empty(), is_of_job) {
            (true, _) => Shown::NOTHING,
            (_, true) => Shown::within(peers.job().segment(), peers.job().size(), &lines, form)?,
            _ => {
                let seen = |at: Address| (!is_elsewhere(at)).then(|| segment(at));
                let places = all().zip(lines.iter().copied());
                Shown::among(places.map(|(at, offset)| Some((seen(at)?, offset))), form)?
            }
        };
        let mine = shown.get(rank as usize).unwrap_or_default();
        let is_pair = is_of_job && members.len() + remote.len() == 2;
        let other = if is_pair { all().nth(usize::from(rank == 0)).map(|at| at.peer) } else { None };
        Ok(Self {
            rank,
            calls: form.calls(mine),
            context: members.at(rank).context,
            segment: peers.job().segment(),
            segments: if is_of_job { Vec::new() } else { all().map(segment).collect() },
            other,
            told: (!is_of_job && all().any(is_elsewhere)).then(|| Box::new([0; CALLS])),
            signed: None,
            completed_by: Vec::new(),
            mine,
            shown,
            form,
            history: 0,
            quarrelled: 0,
            inquired: 0,
            strangers: Vec::new(),
            members,
            remote,
            own,
            next: 0,
            next_line: 1,
            completed: 0,
            completed_ahead: Ordered::new(),
            lending: 0,
            completed_by_all: 0,
            granted: form.depth(),
            staging: Staging::default(),
            lost: Ordered::new(),
            beside,
            bonds: Vec::new(),
            readers: None,
        })
    }

    /// Binds messages between nodes: all runs of this channel are of this plan.
    pub(crate) fn bind(&mut self, plan: &Plan, binding: &Binding, p2p: &mut P2p) {
        if !self.is_spread() || !self.bonds.is_empty() {
            return;
        }
        let bond = |step: &Step| {
            let (peer, part) = match step.action {
                // No segment is longer than the first.
                Action::Receive { from, into } => (from, Part::Receive(into.at(0).1, into.buf == Buf::Recv)),
                Action::Send { to, from } => (to, Part::Send(from.at(0).1)),
                _ => return None,
            };
            p2p.bond(self.context, self.address(peer), part)
        };
        self.bonds = plan.steps.iter().map(bond).collect();
        p2p.offer_slots(self.context, binding.recv.as_dense());
    }

    /// By what the messages of a step go, if they are bound.
    #[inline]
    pub(crate) fn bond(&self, step: usize) -> Option<BondKey> {
        self.bonds.get(step).copied().flatten()
    }

    /// This rank's rank among the members.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The context here.
    pub fn context(&self) -> u32 {
        self.context
    }

    /// Whether some members are on other nodes.
    pub fn is_spread(&self) -> bool {
        self.told.is_some()
    }

    /// Where a peer is.
    #[inline]
    pub fn address(&self, peer: Peer) -> Address {
        match peer {
            Peer::Local(rank) => self.members.at(rank),
            Peer::Remote(rank) => self.remote.at(rank),
        }
    }

    /// The peer that is there, as reports name it.
    pub fn peer_at(&self, at: Address) -> Option<String> {
        let [local, remote] = [&self.members, &self.remote].map(|group| group.rank_of(at));
        let peer = local.map(Peer::Local).or(remote.map(Peer::Remote));
        peer.map(|peer| Source(source(peer)).to_string())
    }

    /// The place of a peer.
    #[inline]
    fn place(&self, peer: Peer) -> usize {
        match peer {
            Peer::Local(rank) => rank as usize,
            Peer::Remote(rank) => self.members.len() + rank as usize,
        }
    }

    /// The source that the messages of this rank to a peer carry.
    #[inline]
    pub(crate) fn source_for(&self, peer: Peer) -> i32 {
        match peer {
            Peer::Local(_) => source(Peer::Local(self.rank)),
            Peer::Remote(_) => source(Peer::Remote(self.rank)),
        }
    }

    /// Runs that have begun and are not over here.
    pub fn under_way(&self) -> u64 {
        self.next - self.completed - self.completed_ahead.len() as u64 + self.lending
    }

    /// Runs completed here: all below this number.
    #[inline]
    pub(crate) fn completed(&self) -> u64 {
        self.completed
    }

    /// Messages of different runs are kept apart by their tags.
    pub(crate) fn tag_of(run: u64) -> i32 {
        (run & TAGS) as i32
    }

    /// Whether a message with this tag and note belongs to a run that is complete here, and was the same call there as
    /// here: ranks that call something else hear of it in another way.
    pub(crate) fn is_through_with(&self, tag: i32, note: u64) -> bool {
        let is_alike = |called: Called| called.conflict(Called::of_word(note)).is_none();
        past_run(self.completed, tag).and_then(|run| self.called(run)).is_some_and(is_alike)
    }

    /// Begins a run in which this rank calls `called`, by `call`; and the word that goes with what it tells.
    #[inline]
    pub(crate) fn begin(&mut self, call: &Call, called: Called) -> (Turn, u64) {
        let word = called.word(self.history);
        self.history = call.hashed(called, self.history);
        if let Some(told) = &mut self.told {
            told[self.next as usize % CALLS] = called.noted(self.next);
        }
        (self.begin_again(), word)
    }

    /// Begins a run of which all is known.
    #[inline]
    pub(crate) fn begin_again(&mut self) -> Turn {
        let turn = Turn { number: self.next, line: self.next_line };
        self.next += 1;
        self.next_line = if u64::from(turn.line) == self.form.depth() { 1 } else { turn.line + 1 };
        turn
    }

    /// Whether nobody looks any more for the run whose note that of `run` overwrites: it is complete everywhere.
    #[inline]
    pub(crate) fn may_note(&mut self, run: u64) -> bool {
        self.mine.is_empty() || self.has_credit(run, 0)
    }

    /// The same for the last time: any credit will do.
    #[inline]
    pub(crate) fn may_still_note(&mut self, run: u64) -> bool {
        self.may_note(run) || self.limit() > run
    }

    /// Notes what this rank calls in a run that it [may note](Self::may_note), and with what types.
    #[inline]
    pub(crate) fn note_call(&self, run: u64, called: Called, signature: Option<&Signature>) {
        if let Some(calls) = self.calls {
            calls.note(run, called.noted(run));
        }
        if let Some(signature) = signature
            && !self.mine.is_empty()
            && let Some(signatures) = self.form.signatures(self.mine)
        {
            signatures.note(run, signature.hash, &signature.text());
        }
    }

    /// Tells the members on other nodes with whom a run exchanges anything what this rank calls, and with what types.
    pub(crate) fn tell_types(
        &mut self,
        run: u64,
        called: Called,
        signature: &Signature,
        plan: &Plan,
        p2p: &mut P2p,
    ) {
        if !self.is_spread() {
            return;
        }
        self.signed.get_or_insert_default().note(run, signature.clone());
        let mut told = Vec::new();
        for step in &plan.steps {
            if let Action::Receive { from: peer, .. } | Action::Send { to: peer, .. } = step.action
                && !told.contains(&peer)
            {
                told.push(peer);
                p2p.tell_types(self.address(peer), run, called, signature);
            }
        }
    }

    /// A run is complete here, but not over: see [`Channel::reader`].
    pub(crate) fn begin_loan(&mut self) {
        self.lending += 1;
    }

    /// It is over.
    pub(crate) fn end_loan(&mut self) {
        self.lending -= 1;
    }

    /// The first member, from the one at `place` on, that may still read what this rank has posted in a run, and the
    /// line on which it will say that it has completed that.
    pub(crate) fn reader(&self, run: u64, place: usize) -> Option<(usize, &'static Line)> {
        (place..self.members.len() + self.remote.len()).find_map(|place| {
            let line = self.shown.get(place)?.first()?;
            let reads = !line.reached(run + 1) && !self.is_stranger(run, self.member(place));
            let is_lost = || self.completed_by.get(place) == Some(&u64::MAX);
            (reads && !is_lost()).then_some((place, line))
        })
    }

    /// Whether a member shows that it has completed a run, or that it has left: what it has posted and told in that run
    /// is where it is read.
    pub(crate) fn is_done_by(&self, member: Peer, run: u64) -> bool {
        let shown = self.shown.get(self.place(member)).and_then(|lines| lines.first());
        shown.is_some_and(|line| line.reached(run + 1)) || self.is_left_by(member)
    }

    /// Whether a member shows that it has left. Answers that it still had to give are where they are read, too.
    pub(crate) fn is_left_by(&self, member: Peer) -> bool {
        self.stay(self.place(member)).is_some_and(|stay| stay.is_over())
    }

    /// Whether a member on another node has told that it has left, so that it will not receive what a step is still to
    /// send it by a bond. Of what it sends by one that says nothing: that is not told in order with this.
    pub(crate) fn has_refused(&self, member: Peer, step: usize, p2p: &P2p) -> bool {
        self.bond(step).is_some() && p2p.has_departed(self.context, self.address(member).peer)
    }

    /// Whether a member on another node has told that it has left before it could offer to send what a step is to
    /// receive from it: its initialization has failed. Both are told in order, before all that it would have sent.
    pub(crate) fn was_never_offered(&self, member: Peer, step: usize, p2p: &P2p) -> bool {
        self.bond(step).is_some_and(|bond| p2p.waits_for_offer(bond))
            && p2p.has_departed(self.context, self.address(member).peer)
    }

    /// The member at a place.
    pub(crate) fn member(&self, place: usize) -> Peer {
        match place.checked_sub(self.members.len()) {
            None => Peer::Local(place as u32),
            Some(place) => Peer::Remote(place as u32),
        }
    }

    /// Where a line of a run is, among those of a member.
    #[inline]
    fn at(&self, turn: Turn, line: u8) -> usize {
        if line == 0 { turn.line as usize } else { self.form.behind_first(turn.number, line) }
    }

    /// A line of this rank, in a run.
    #[inline]
    pub(crate) fn own_line(&self, turn: Turn, line: u8) -> &'static Line {
        &self.mine[self.at(turn, line)]
    }

    /// A line of a member, in a run.
    #[inline]
    pub(crate) fn line(&self, member: Peer, turn: Turn, line: u8) -> &'static Line {
        self.shown.line(self.place(member), self.at(turn, line))
    }

    /// The other member, if there are two in one segment: what one posts, the other one reads.
    #[inline]
    pub(crate) fn other(&self) -> Option<PeerId> {
        self.other
    }

    /// A range of a member's segment, perhaps named by the member.
    ///
    /// # Errors
    /// As [`Segment::region`].
    #[inline]
    pub(crate) fn region(&self, member: Peer, offset: u64, bytes: u64) -> Result<Region> {
        self.segment_of(self.place(member)).region(offset, bytes as usize)
    }

    /// Notes that a run is complete here, and shows it.
    #[inline]
    pub(crate) fn complete(&mut self, run: u64, p2p: &P2p) {
        if run != self.completed {
            self.completed_ahead.insert(run, ());
            return;
        }
        self.completed += 1;
        while !self.completed_ahead.is_empty() && self.completed_ahead.remove(self.completed).is_some() {
            self.completed += 1;
        }
        if let Some(first) = self.mine.first() {
            first.post(self.completed, self.completed, &Region::EMPTY);
            self.wake_members(&p2p.peers);
        }
    }

    /// Wakes the other members that wait for it: something was posted.
    #[inline]
    pub(crate) fn wake_members(&self, peers: &Peers) {
        if !self.segments.is_empty() || peers.someone_sleeps() {
            peers.wake_for_post(self.all().map(|member| member.peer));
        }
    }

    /// Ends it here: what is left, if all members can be seen to leave too.
    pub(crate) fn leave(self) -> Option<Left> {
        let others = self.all().enumerate().filter(|(place, _)| *place != self.rank as usize);
        let stay = |(place, at)| {
            let stay = self.stay(place).map(Stay::Shown);
            Some((at, stay.or(self.is_spread().then_some(Stay::Told))?))
        };
        let staying = others.map(stay).collect::<Option<Vec<_>>>()?;
        let users = self.users();
        Some(Left {
            context: self.context,
            beside: self.beside,
            staying,
            own: self.own,
            is_shown: false,
            blocks: self.staging.into_blocks().collect(),
            users,
        })
    }

    /// What the member at a place shows of its stay; none if it shows none.
    fn stay(&self, place: usize) -> Option<Departing> {
        Departing::of(self.shown.get(place)?, self.segment_of(place))
    }

    /// Whether the member at a place has shown that it leaves.
    pub(crate) fn has_left_from(&self, place: usize) -> bool {
        self.stay(place).is_some_and(|stay| stay.is_over())
    }

    /// Where what the member at a place posts lies.
    #[inline]
    fn segment_of(&self, place: usize) -> &'static Segment {
        self.segments.get(place).copied().unwrap_or(self.segment)
    }

    pub(crate) fn beside(&self) -> Option<u32> {
        self.beside
    }

    /// Waits for a peer no longer, if it is a member. What one that has left before has shown, of every run, is there.
    pub(crate) fn lose(&mut self, peer: PeerId) {
        let Some(place) = self.all().position(|member| member.peer == peer) else { return };
        if self.has_left_from(place) {
            return;
        }
        if !self.mine.is_empty() {
            self.note_completed_at(place, u64::MAX);
        }
        self.lost.insert(peer, ());
    }

    /// Waits for those who have left no longer before it posts: they complete nothing. So it goes on without one whose
    /// initialization has failed after all have met.
    pub(crate) fn forgive_those_who_left(&mut self) {
        for place in 0..self.all().count() {
            if self.has_left_from(place) {
                self.note_completed_at(place, u64::MAX);
            }
        }
    }

    /// A member that is lost, if any is.
    pub(crate) fn lost(&self) -> Option<PeerId> {
        self.lost.first().map(|(peer, ())| peer)
    }

    /// All members, by place.
    pub(crate) fn all(&self) -> impl Iterator<Item = Address> + '_ {
        self.members.iter().chain(self.remote.iter())
    }

    /// The members, if processes of other jobs are among them.
    pub(crate) fn users(&self) -> Vec<PeerId> {
        if self.segments.is_empty() { Vec::new() } else { self.all().map(|member| member.peer).collect() }
    }

    /// Those from whom messages come by the communicator of this channel, by place.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (usize, PeerId)> + '_ {
        let first = if self.remote.is_empty() { 0 } else { self.members.len() };
        (first..).zip(self.messages_from().iter().map(|source| source.peer))
    }

    fn messages_from(&self) -> &Addresses {
        if self.remote.is_empty() { &self.members } else { &self.remote }
    }

    /// Whether messages from a rank of a context come from this peer, by the communicator of this channel.
    pub(crate) fn is_source(&self, context: u32, rank: i32, peer: PeerId) -> bool {
        let sent_by =
            || usize::try_from(rank).ok().and_then(|rank| self.messages_from().get(rank)).map(|at| at.peer);
        let messages = self.beside == Some(context) && sent_by() == Some(peer);
        messages || self.context == context && self.source_peer(rank) == Some(peer)
    }

    /// Whom a source of collectives' messages means.
    fn source_peer(&self, rank: i32) -> Option<PeerId> {
        let of = |group: &Addresses, peer: fn(u32) -> Peer| {
            (0..).zip(group.iter()).find(|(place, _)| source(peer(*place)) == rank).map(|(_, at)| at.peer)
        };
        of(&self.members, Peer::Local).or_else(|| of(&self.remote, Peer::Remote))
    }

    /// The lines of a plan must fit.
    pub(crate) fn check(&self, plan: &Plan) {
        assert!(plan.lines.is_empty() || !self.mine.is_empty(), "posting needs lines");
        assert!(self.mine.is_empty() || self.form.admits(plan.lines.len()), "and as many as the plan has");
    }
}

/// The last run with this tag of those before run `completed`. Tags begin anew: half of them are of runs to come.
fn past_run(completed: u64, tag: i32) -> Option<u64> {
    let tag = u64::try_from(tag).ok()?;
    let runs_since = completed.wrapping_sub(tag) & TAGS;
    (1..=TAGS / 2).contains(&runs_since).then(|| completed.checked_sub(runs_since)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_of_a_run_that_is_over_or_to_come_however_many_there_were() {
        for completed in [3, TAGS - 1, TAGS, TAGS + 1, 5 * TAGS, 7 << 40] {
            for ahead in [0, 1, 2, 1000] {
                assert_eq!(past_run(completed, Channel::tag_of(completed + ahead)), None, "{completed}");
            }
            for since in [1, 3] {
                let run = completed - since;
                assert_eq!(past_run(completed, Channel::tag_of(run)), Some(run), "{completed}");
            }
            assert_eq!(past_run(completed, -1), None);
        }
    }
}
