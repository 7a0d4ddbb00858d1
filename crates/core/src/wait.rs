//! Waiting: the one place in oxmpi where a call does not return at once, and what calls in a loop do instead.
//!
//! First look again at what is waited for, as fast as possible; then do between looks what `policy` says: nothing,
//! offer the processor to others, or sleep on a doorbell that others ring. Before it sleeps, a call looks whether a
//! rank that it needs has left: then the job ends, as the wait would not.

use std::cell::LazyCell;
use std::hint;
use std::time::Duration;

use oxmpi_engine::machine::{Posts, now_ns, yield_now};
use oxmpi_engine::{Absent, Event, OpKey, PeerId};
use oxmpi_mem::Entered;

use crate::doze::Unrest;
use crate::policy::{Silence, Step, VainLooks, Wait};
use crate::process::{Process, State};

/// Between two looks at what is waited for, everything else is polled: once in so many looks.
const LOOKS_PER_POLL: u32 = 16;
/// What comes at once is seen at once; for what takes longer, looking without a pause would only keep the cache
/// line from the writer.
const BRISK_LOOKS: u32 = 20;
/// The clock is read, and everything is polled, once in so many looks.
const LOOKS_PER_STEP: u32 = 16;
/// Calls that look in vain, each of which polls, read the clock once in so many polls where there is a network.
const POLLS_PER_QUESTION: u32 = 256;

/// Something that a call waits for.
pub(crate) trait Awaited {
    /// What there is when it has come.
    type Outcome;

    /// Looks whether it has come.
    fn look(&mut self, state: &mut State) -> Option<Self::Outcome>;

    /// Whether nothing brings it but somebody else's store, to what `look` looks at.
    fn is_a_post(&self) -> bool {
        false
    }

    /// Looks whether it will never come because a rank calls something else, and lets it end then.
    fn suspect(&mut self, _: &mut State) {}

    /// How long it may be slept for at a time, if less than usual.
    fn nap(&self) -> Option<Duration> {
        None
    }

    /// Makes an operation of it that others can end, if it is none yet but could be one; what comes of that at once.
    fn post(&mut self, _: &mut State) -> Option<Self::Outcome> {
        None
    }

    /// One of which must happen first, if another thread of the rank would notice each of them.
    fn events(&self, _: &State) -> Vec<Event> {
        Vec::new()
    }

    /// Whose posts it waits for, beside what the engine keeps.
    fn posts(&self, _: &State) -> Posts {
        Posts::OfAnybody
    }

    /// What it is, for reports, where the engine does not know it.
    fn describe(&self, _: &State) -> Option<String> {
        None
    }

    /// The peer that has left and without which it will not come.
    fn misses(&self, _: &State, _: &mut Absent) -> Option<PeerId> {
        None
    }
}

/// Something that is waited for patiently: [`Awaited`], but for what there is when it has come. That part of a wait is
/// the larger one, and not what takes its time: it is there once, and not once for each of those who wait.
pub(crate) trait Patient {
    fn look(&mut self, state: &mut State) -> bool;
    fn is_a_post(&self) -> bool;
    fn suspect(&mut self, state: &mut State);
    fn nap(&self) -> Option<Duration>;
    fn post(&mut self, state: &mut State) -> bool;
    fn events(&self, state: &State) -> Vec<Event>;
    fn posts(&self, state: &State) -> Posts;
    fn describe(&self, state: &State) -> Option<String>;
    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId>;
}

/// What is awaited, and what there is once it has come.
struct Patiently<'a, A: Awaited> {
    awaited: &'a mut A,
    outcome: Option<A::Outcome>,
}

impl<A: Awaited> Patient for Patiently<'_, A> {
    fn look(&mut self, state: &mut State) -> bool {
        self.outcome = self.awaited.look(state);
        self.outcome.is_some()
    }

    fn is_a_post(&self) -> bool {
        self.awaited.is_a_post()
    }

    fn suspect(&mut self, state: &mut State) {
        self.awaited.suspect(state);
    }

    fn nap(&self) -> Option<Duration> {
        self.awaited.nap()
    }

    fn post(&mut self, state: &mut State) -> bool {
        self.outcome = self.awaited.post(state);
        self.outcome.is_some()
    }

    fn events(&self, state: &State) -> Vec<Event> {
        self.awaited.events(state)
    }

    fn posts(&self, state: &State) -> Posts {
        self.awaited.posts(state)
    }

    fn describe(&self, state: &State) -> Option<String> {
        self.awaited.describe(state)
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        self.awaited.misses(state, absent)
    }
}

/// What `look` looks for, and who is missed according to `misses`.
pub(crate) struct Needing<L, M, E = fn(&State) -> Vec<Event>> {
    look: L,
    misses: M,
    events: E,
    posts: Posts,
}

impl<T, L, M> Needing<L, M>
where
    L: FnMut(&mut State) -> Option<T>,
    M: Fn(&State, &mut Absent) -> Option<PeerId>,
{
    #[inline]
    pub(crate) fn new(look: L, misses: M) -> Self {
        Self { look, misses, events: |_| Vec::new(), posts: Posts::OfAnybody }
    }

    /// As this, which has come when an operation is over, and not before.
    #[inline]
    pub(crate) fn end_of(self, operation: OpKey) -> Needing<L, M, impl Fn(&State) -> Vec<Event>> {
        self.until(move |_: &State| vec![Event::Over(operation)])
    }

    /// As this, which the engine keeps, and which has not come before one of `events` happens; if these are none,
    /// nobody knows.
    #[inline]
    pub(crate) fn until<E: Fn(&State) -> Vec<Event>>(self, events: E) -> Needing<L, M, E> {
        let Self { look, misses, .. } = self;
        Needing { look, misses, events, posts: Posts::OfNobody }
    }
}

impl<T, L, M, E> Awaited for Needing<L, M, E>
where
    L: FnMut(&mut State) -> Option<T>,
    M: Fn(&State, &mut Absent) -> Option<PeerId>,
    E: Fn(&State) -> Vec<Event>,
{
    type Outcome = T;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<T> {
        (self.look)(state)
    }

    fn events(&self, state: &State) -> Vec<Event> {
        (self.events)(state)
    }

    fn posts(&self, _: &State) -> Posts {
        self.posts
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        (self.misses)(state, absent)
    }
}

impl<T, F: FnMut(&mut State) -> Option<T>> Awaited for F {
    type Outcome = T;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<T> {
        self(state)
    }
}

/// What is waited for in code that is there once; nothing of it is known but that it has come.
struct Anything<'a>(&'a mut dyn Patient);

impl Awaited for Anything<'_> {
    type Outcome = ();

    fn look(&mut self, state: &mut State) -> Option<()> {
        self.0.look(state).then_some(())
    }

    fn is_a_post(&self) -> bool {
        self.0.is_a_post()
    }

    fn suspect(&mut self, state: &mut State) {
        self.0.suspect(state);
    }

    fn nap(&self) -> Option<Duration> {
        self.0.nap()
    }

    fn post(&mut self, state: &mut State) -> Option<()> {
        self.0.post(state).then_some(())
    }

    fn events(&self, state: &State) -> Vec<Event> {
        self.0.events(state)
    }

    fn posts(&self, state: &State) -> Posts {
        self.0.posts(state)
    }

    fn describe(&self, state: &State) -> Option<String> {
        self.0.describe(state)
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        self.0.misses(state, absent)
    }
}

impl Process {
    /// As [`Process::wait_for`], in a call that is not about messages: it looks by a table of functions, and has no
    /// code of its own for each place that waits so.
    pub(crate) fn wait_at_leisure<A: Awaited>(&self, mut awaited: A) -> A::Outcome {
        let mut patiently = Patiently { awaited: &mut awaited, outcome: None };
        self.wait_for_anything(&mut patiently);
        patiently.outcome.expect("waited until it had come")
    }

    #[inline(never)]
    fn wait_for_anything(&self, awaited: &mut dyn Patient) {
        self.wait_for(Anything(awaited));
    }

    /// Looks until what is awaited has come, moving everything else on meanwhile.
    #[inline]
    pub(crate) fn wait_for<A: Awaited>(&self, awaited: A) -> A::Outcome {
        self.wait_inside(self.enter(), awaited)
    }

    /// As [`Process::wait_for`], of a caller who is inside already.
    #[inline]
    pub(crate) fn wait_inside<'a, A: Awaited>(
        &'a self,
        mut state: Entered<'a, State>,
        mut awaited: A,
    ) -> A::Outcome {
        if let Some(result) = awaited.look(&mut state) {
            self.leave_complete(state);
            return result;
        }
        let has_thread = state.absence.is_some();
        if has_thread {
            Self::take_over_from_thread(&mut state);
        }
        let outcome = self.wait_looking(state, &mut awaited);
        if has_thread {
            self.leave_to_thread_again();
        }
        outcome
    }

    #[inline(always)]
    fn wait_looking<'a, A: Awaited>(&'a self, mut state: Entered<'a, State>, awaited: &mut A) -> A::Outcome {
        state.waits += 1;
        let takes_turns = self.policy.has_free_offers() || self.is_crowded();
        let (mut look, mut looks) = (0, self.policy.looks(takes_turns));
        while look < looks {
            look += 1;
            if look > BRISK_LOOKS {
                hint::spin_loop();
            }
            if look % LOOKS_PER_POLL == 0 {
                state.engine.poll();
                state = let_others_in(state);
                looks = match state.engine.has_fabric() {
                    false => self.policy.looks(self.is_crowded()),
                    true => self.policy.looks_beside_fabric(self.is_crowded()),
                };
            }
            if let Some(result) = awaited.look(&mut state) {
                return result;
            }
        }
        let mut patiently = Patiently { awaited, outcome: None };
        self.wait_patiently(state, &mut patiently);
        patiently.outcome.expect("waited until it had come")
    }

    fn wait_patiently<'a>(&'a self, mut state: Entered<'a, State>, awaited: &mut dyn Patient) {
        let mut wait = Wait::new(state.engine.has_fabric());
        let (mut unrest, mut silence) = (Unrest::default(), Silence::default());
        loop {
            let mut moved = false;
            while self.policy.takes_free_offer() {
                drop(state);
                yield_now();
                state = self.enter();
                if awaited.look(&mut state) {
                    return;
                }
                if !awaited.is_a_post() && state.engine.poll() {
                    moved = true;
                    if awaited.look(&mut state) {
                        return;
                    }
                }
            }
            moved |= state.engine.poll();
            if moved {
                silence = Silence::default();
            }
            moved &= !unrest.is_great(); // who dozes is not awake for what others wait for
            if awaited.look(&mut state) {
                return;
            }
            state.answer_if_asked(awaited);
            let now = LazyCell::new(now_ns);
            state.engine.p2p.read_directly_from(self.policy.direct_from_bytes(|| *now));
            let has_slept = wait.has_slept() && !moved;
            match self.policy.step(&mut wait, moved, self.is_crowded(), || *now) {
                Step::Look => {
                    for _ in 0..LOOKS_PER_STEP {
                        hint::spin_loop();
                        if awaited.look(&mut state) {
                            return;
                        }
                    }
                    state = let_others_in(state);
                }
                Step::Offer => {
                    drop(state);
                    self.offer();
                    state = self.enter();
                    if awaited.look(&mut state) {
                        return;
                    }
                }
                Step::Sleep => {
                    silence.begin_with(&wait);
                    let nap = self.nap(&state, &mut silence, *now);
                    drop(state);
                    // Who sleeps again and again has asked: what it waits for its processor meanwhile counts later.
                    if !has_slept && self.policy.asks_for_waiting(*now) {
                        self.policy.waited(*now, self.processor.waited_ns());
                    }
                    let has_come = if unrest.is_great() {
                        self.doze(awaited, &mut unrest, &mut silence)
                    } else {
                        self.sleep(awaited, nap, &mut unrest, &mut silence)
                    };
                    if has_come {
                        return;
                    }
                    state = self.enter();
                }
            }
        }
    }

    /// Ends a call that does not wait: it has found something, or has looked at `vain` things that had not come. A
    /// program that calls it in a loop waits all the same, and keeps the processor from whom it waits for.
    #[inline]
    pub(crate) fn end_look(&self, state: Entered<'_, State>, vain: usize) {
        self.end_look_for(state, vain, |_, _| None);
    }

    /// The same, where something was looked for that nothing under way stands for, and which needs those whom `misses`
    /// looks at.
    #[inline]
    pub(crate) fn end_look_for(
        &self,
        mut state: Entered<'_, State>,
        vain: usize,
        misses: impl FnOnce(&State, &mut Absent) -> Option<PeerId>,
    ) {
        if vain == 0 {
            state.vain = VainLooks::default();
            state.silence = None;
            return self.leave_complete(state);
        }
        if state.engine.has_fabric() && state.engine.polls().is_multiple_of(POLLS_PER_QUESTION) {
            self.doubt(&mut state, misses);
        }
        if self.policy.offers_after(&mut state.vain, vain) && self.is_crowded() {
            drop(state);
            if self.policy.takes_free_offer() { yield_now() } else { self.offer() }
        }
    }

    /// After many looks in vain, asks those on other nodes who are needed whether they are there: only what goes to
    /// somebody who is gone finds that out.
    #[cold]
    fn doubt(&self, state: &mut State, misses: impl FnOnce(&State, &mut Absent) -> Option<PeerId>) {
        let now = now_ns();
        // A call that waits, and has come back, has broken it.
        let waits = state.waits;
        state.silence.take_if(|(before, _)| *before != waits);
        let (_, silence) = state.silence.get_or_insert_with(|| (waits, Silence::default()));
        if silence.is_to_be_broken(now) {
            let is_long = silence.is_long(now);
            let mut absent = state.engine.absent_or_silent(self.is_world_only());
            misses(state, &mut absent);
            state.engine.look_after_needed(&mut absent);
            state.engine.ask_after(&absent, is_long);
            state.engine.suspect();
            state.engine.ask_no_more();
        }
    }

    /// Whether ranks take turns now.
    #[inline]
    fn is_crowded(&self) -> bool {
        self.policy.is_crowded(|| self.bed.awake())
    }

    /// Offers the processor to others, and finds out who takes it.
    #[cold]
    fn offer(&self) {
        let begin = now_ns();
        yield_now();
        self.policy.offered(
            begin,
            now_ns(),
            || self.enter().engine.has_computing_peer(),
            || self.enter().engine.processor_time_ns(),
        );
    }

    /// Sleeps, unless there is something to do after all; whether it has come.
    fn sleep(
        &self,
        awaited: &mut dyn Patient,
        nap: Duration,
        unrest: &mut Unrest,
        silence: &mut Silence,
    ) -> bool {
        let mut has_come = false;
        let state = self.enter();
        let posts = state.posts(awaited);
        unrest.lie_down(state.waits);
        drop(state);
        self.bed.sleep(awaited.nap().unwrap_or(nap), posts, || {
            let mut state = self.enter();
            self.is_to_stay_up(&mut state, awaited, &mut has_come, silence) || state.posts(awaited) != posts
        });
        has_come
    }

    /// How long to sleep at a time. Nothing rings for what comes over a network, and where peers reach into memory of
    /// this process nothing that moves is seen: so who lends some is not silent.
    pub(crate) fn nap(&self, state: &State, silence: &mut Silence, now: u64) -> Duration {
        if !state.engine.has_fabric() {
            return self.policy.nap(state.engine.knows_other_jobs());
        }
        if state.engine.lends_elsewhere() { Silence::default().nap(now) } else { silence.nap(now) }
    }

    /// Looks once more before a sleep, also for who has left; whether there is something to do after all.
    pub(crate) fn is_to_stay_up(
        &self,
        state: &mut State,
        awaited: &mut dyn Patient,
        has_come: &mut bool,
        silence: &mut Silence,
    ) -> bool {
        let moved = state.engine.poll();
        if moved {
            *silence = Silence::default();
        }
        *has_come = awaited.look(state);
        if !moved && !*has_come {
            state.engine.suspect();
            awaited.suspect(state);
            *has_come = awaited.look(state);
        }
        if !moved && !*has_come {
            *has_come = self.look_for_the_last_time(state, awaited, silence);
        }
        moved || *has_come || state.is_asked()
    }

    /// Ends this process if what is awaited will never come, because a rank of the job has left that it needs. If that
    /// is a process of another job, what needs it fails.
    fn look_for_the_last_time(
        &self,
        state: &mut State,
        awaited: &mut dyn Patient,
        silence: &mut Silence,
    ) -> bool {
        let mut absent = state.engine.absent(self.is_world_only());
        state.patience.has_had_several = self.has_had_several();
        if awaited.misses(state, &mut absent).is_none() {
            let now = now_ns();
            if state.engine.has_fabric() && silence.is_to_be_broken(now) {
                let mut absent = state.engine.absent_or_silent(self.is_world_only());
                _ = awaited.misses(state, &mut absent);
                state.engine.ask_after(&absent, silence.is_long(now));
                state.engine.suspect();
                awaited.suspect(state);
                state.engine.ask_no_more();
            }
            return false;
        }
        // What it told before it left is here, and dealt with now.
        absent.settle();
        while state.engine.poll() {}
        if awaited.look(state) {
            return true;
        }
        let Some(peer) = awaited.misses(state, &mut absent) else { return false };
        if state.is_of_world(peer) {
            self.strand(state, peer);
        }
        state.engine.give_up(peer);
        awaited.suspect(state);
        awaited.look(state)
    }
}

/// The gate is not kept from another thread while this one waits.
#[inline]
fn let_others_in(state: Entered<'_, State>) -> Entered<'_, State> {
    if state.is_awaited() { state.give_way() } else { state }
}

impl State {
    /// Whose posts are to wake this rank while it waits for this.
    fn posts(&self, awaited: &dyn Patient) -> Posts {
        self.engine.posts().and(awaited.posts(self))
    }

    /// Answers the launcher, if it wants to know what this rank is waiting for.
    fn answer_if_asked(&self, awaited: &dyn Patient) {
        if self.is_asked() {
            let mut pending: Vec<String> = awaited.describe(self).into_iter().collect();
            pending.extend(self.engine.describe(self));
            let report =
                if pending.is_empty() { "nothing is under way".to_owned() } else { pending.join("\n") };
            self.engine.state().answer(&report);
        }
    }
}
