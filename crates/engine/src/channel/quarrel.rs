//! What the members of a channel call, and what is said where that differs.
//!
//! Whose lines are seen here shows it ([`CALLS`]); those on other nodes [tell](crate::p2p::P2p::tell_call) it, when
//! they are asked. All here is off the common path.

use oxmpi_base::{Error, ErrorClass};
use oxmpi_plan::Peer;
use oxmpi_shm::{CALLS, Line};

use super::Channel;
use crate::call::Called;
use crate::matching::{Source, source};
use crate::p2p::{Address, P2p};
use crate::peers::PeerId;
use crate::signature::Signature;

/// What an error of ranks that disagree begins with.
const DIFFERENT: &str = "ranks call different collectives";

/// What is to be said of a member that seems to do something else.
#[derive(Debug)]
pub(crate) enum Quarrel {
    /// It does the same with data of other types.
    Alike(Error),
    /// It did so in an earlier run.
    Before(Error),
    /// Nothing, or nothing new.
    None,
    /// It does so now.
    Now(Error),
}

impl Channel {
    /// What a member is known to have called in a run.
    pub(crate) fn called_by(&self, member: Peer, run: u64, p2p: &P2p) -> Option<Called> {
        if member == Peer::Local(self.rank) {
            return self.called(run);
        }
        match self.shown.get(self.place(member)) {
            Some(shown) => Called::of_note(self.form.calls(shown)?.at(run), run),
            None => p2p.told_call(self.context, self.address(member).peer, run),
        }
    }

    /// Whether a run has begun here.
    pub(crate) fn has_begun(&self, run: u64) -> bool {
        run < self.next
    }

    /// What this rank has called in a run, if it is known still.
    pub(crate) fn called(&self, run: u64) -> Option<Called> {
        let note = match (&self.told, self.calls) {
            (Some(told), _) => told[run as usize % CALLS],
            (None, calls) => calls?.at(run),
        };
        Called::of_note(note, run)
    }

    /// Where a process is that has asked what this rank calls, if it is a member.
    pub(crate) fn address_of(&self, peer: PeerId) -> Option<Address> {
        self.members.iter().chain(self.remote.iter()).find(|at| at.peer == peer)
    }

    /// Which runs this rank and a member have called different things in, if that is not known yet: in `run`, where
    /// `theirs` came with what the member has told and `mine` is what this rank calls, or in an earlier one.
    #[cold]
    pub(crate) fn quarrel(
        &mut self,
        run: u64,
        mine: Called,
        member: Peer,
        theirs: Called,
        p2p: &mut P2p,
    ) -> Quarrel {
        if let Some(class) = mine.conflict(theirs) {
            self.quarrelled = self.quarrelled.max(run + 1);
            return Quarrel::Now(self.disagreement(DIFFERENT, "calls", class, [mine, theirs], member));
        }
        if let Some(error) = self.unlike(run, mine, member, p2p) {
            self.quarrelled = self.quarrelled.max(run + 1);
            return Quarrel::Alike(error);
        }
        if mine.sets_up() {
            return Quarrel::None; // that must succeed on all ranks, or on none
        }
        let earlier = self.quarrelled.max((run + 1).saturating_sub(CALLS as u64))..run;
        let found = earlier
            .rev()
            .find_map(|earlier| Some((earlier, self.quarrel_before(run, earlier, member, p2p)?)));
        let Some((earlier, error)) = found else {
            self.inquire(run, member, p2p);
            return Quarrel::None;
        };
        self.quarrelled = earlier + 1;
        Quarrel::Before(error)
    }

    /// Why a member has failed in a run that says so, and perhaps what it has heard that somebody calls: what is called
    /// unlike `mine`, if anybody is seen to, or has been heard to, with what there is to say.
    #[cold]
    pub(crate) fn failed_for(
        &mut self,
        run: u64,
        mine: Called,
        member: Peer,
        (why, heard): (ErrorClass, Option<Called>),
        p2p: &mut P2p,
    ) -> (Error, Option<Called>) {
        let mut members = (0..self.members.len() + self.remote.len()).map(|place| self.member(place));
        let unlike = members.find_map(|other| {
            let theirs = self.called_by(other, run, p2p)?;
            mine.conflict(theirs).map(|_| (other, theirs))
        });
        if let Some((other, theirs)) = unlike
            && let Quarrel::Now(error) = self.quarrel(run, mine, other, theirs, p2p)
        {
            return (error, Some(theirs));
        }
        let teller = Source(source(member));
        if why == ErrorClass::ProcAborted {
            return (Error::new(why, format!("{teller} has lost a process that takes part")), None);
        }
        self.quarrelled = self.quarrelled.max(run + 1); // it is told now
        let conflict = heard.and_then(|heard| Some((heard, mine.conflict(heard)?)));
        let error = match conflict {
            None => Error::new(why, format!("{teller} has failed in this call, and has nothing to tell")),
            Some((theirs, class)) => {
                let [called, theirs] = [mine, theirs].map(Called::describe);
                let rank = self.rank;
                Error::new(
                    class,
                    format!(
                        "{DIFFERENT}: rank {rank} calls {called}, {teller} calls, or has heard of, {theirs}"
                    ),
                )
            }
        };
        (error, heard)
    }

    /// Asks a member, which cannot be looked at, what it has called before a run; once.
    fn inquire(&mut self, run: u64, member: Peer, p2p: &mut P2p) {
        if !self.is_spread() {
            return;
        }
        let first = self.quarrelled.max(self.inquired).max(run.saturating_sub(CALLS as u64 - 1));
        for earlier in first..run {
            if let Some(mine) = self.called(earlier) {
                p2p.tell_call(self.address(member), earlier, mine, true);
            }
        }
        self.inquired = run;
    }

    /// Lets a member be waited for no longer in a run.
    pub(crate) fn note_stranger(&mut self, run: u64, member: Peer) {
        let completed = self.completed;
        self.strangers.retain(|stranger| stranger.0 >= completed);
        self.strangers.push((run, member));
    }

    /// Whether a member is not to be waited for in a run.
    #[inline]
    pub(crate) fn is_stranger(&self, run: u64, member: Peer) -> bool {
        !self.strangers.is_empty() && self.strangers.contains(&(run, member))
    }

    /// What is known to be wrong with an earlier run.
    fn quarrel_before(&self, run: u64, earlier: u64, member: Peer, p2p: &P2p) -> Option<Error> {
        let both = [self.called(earlier)?, self.called_by(member, earlier, p2p)?];
        let Some(class) = both[0].conflict(both[1]) else {
            return self.unlike(earlier, both[0], member, p2p);
        };
        let begin = match run - earlier {
            1 => "ranks called different collectives before this one".to_owned(),
            before => format!("ranks called different collectives, {before} before this one"),
        };
        Some(self.disagreement(&begin, "called", class, both, member))
    }

    /// What is wrong with the types of a member's data in a run, where both are known.
    fn unlike(&self, run: u64, called: Called, member: Peer, p2p: &P2p) -> Option<Error> {
        let ((my_hash, mine), (their_hash, theirs)) = match self.shown.get(self.place(member)) {
            Some(shown) => {
                let on = |shown: &[Line]| self.form.signatures(shown)?.at(run);
                (on(self.mine)?, on(shown)?)
            }
            None => {
                let theirs = p2p.told_types(self.context, self.address(member).peer, run)?;
                let of = |signature: &Signature| (signature.hash, signature.text());
                (of(self.signed.as_ref()?.at(run)?), of(theirs))
            }
        };
        let (rank, member) = (self.rank, Source(source(member)));
        (my_hash != their_hash).then(|| {
            let call = called.describe();
            let text = format!(
                "ranks call {call} with different types: rank {rank} with {mine}, {member} with {theirs}"
            );
            Error::new(ErrorClass::Type, text)
        })
    }

    fn disagreement(
        &self,
        begin: &str,
        calls: &str,
        class: ErrorClass,
        both: [Called; 2],
        member: Peer,
    ) -> Error {
        let [mine, theirs] = both.map(Called::describe);
        let (rank, member) = (self.rank, Source(source(member)));
        Error::new(class, format!("{begin}: rank {rank} {calls} {mine}, {member} {calls} {theirs}"))
    }
}
