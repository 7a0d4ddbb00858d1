//! Waiting: the one place in oxmpi where a call does not return at once.
//!
//! First look again at what is waited for, as fast as possible; then let others have the processor between
//! looks; then sleep until somebody rings. How long each phase lasts follows from whether the node has a
//! processor for each rank: with one, waking a sleeper costs more than a long look; without, looking keeps
//! from running the very rank that is waited for.

use std::hint;
use std::time::{Duration, Instant};

use oxmpi_engine::Absent;
use oxmpi_mem::Entered;
use oxmpi_shm::yield_now;

use crate::process::{Process, State};

/// How to wait, found out once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// Looks before the processor is offered to others.
    looks: u32,
    /// How long to offer it before sleeping.
    patience: Duration,
    /// The longest sleep.
    nap: Duration,
}

/// Between two looks at what is waited for, everything else is polled: once in so many looks.
const LOOKS_PER_POLL: u32 = 16;
/// What comes at once is seen at once; for what takes longer, looking without a pause would only keep the cache
/// line from the writer.
const BRISK_LOOKS: u32 = 20;
/// The clock is read once in so many offers of the processor.
const OFFERS_PER_CLOCK: u32 = 16;

impl Policy {
    /// For a node with `ranks` ranks, which together may use `cpus` processors.
    pub(crate) fn new(ranks: usize, cpus: usize, threaded: bool) -> Self {
        let crowded = ranks > cpus;
        Self {
            looks: if crowded { 2 } else { 4000 },
            patience: Duration::from_micros(if crowded { 500 } else { 200 }),
            // Another thread of this process may complete what this one sleeps for, without ringing.
            nap: Duration::from_millis(if threaded { 2 } else { 250 }),
        }
    }
}

/// Something that a call waits for.
pub(crate) trait Awaited {
    /// What there is when it has come.
    type Outcome;

    /// Looks whether it has come.
    fn look(&mut self, state: &mut State) -> Option<Self::Outcome>;

    /// What it is, for reports, where the engine does not know it.
    fn describe(&self, _: &State) -> Option<String> {
        None
    }

    /// The rank of the job that has left and without which it will not come.
    fn misses(&self, _: &State, _: &mut Absent) -> Option<u32> {
        None
    }
}

/// What `look` looks for, and who is missed according to `misses`.
pub(crate) struct Needing<L, M> {
    look: L,
    misses: M,
}

impl<T, L, M> Needing<L, M>
where
    L: FnMut(&mut State) -> Option<T>,
    M: Fn(&State, &mut Absent) -> Option<u32>,
{
    #[inline]
    pub(crate) fn new(look: L, misses: M) -> Self {
        Self { look, misses }
    }
}

impl<T, L, M> Awaited for Needing<L, M>
where
    L: FnMut(&mut State) -> Option<T>,
    M: Fn(&State, &mut Absent) -> Option<u32>,
{
    type Outcome = T;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<T> {
        (self.look)(state)
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<u32> {
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

impl Process {
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
            return result;
        }
        for look in 1..=self.policy.looks {
            if look > BRISK_LOOKS {
                hint::spin_loop();
            }
            if look % LOOKS_PER_POLL == 0 {
                state.engine.poll();
                state = self.let_others_in(state);
            }
            if let Some(result) = awaited.look(&mut state) {
                return result;
            }
        }
        self.wait_patiently(state, awaited)
    }

    fn wait_patiently<'a, A: Awaited>(&'a self, mut state: Entered<'a, State>, mut awaited: A) -> A::Outcome {
        let mut since = Instant::now();
        let mut offers = 0u32;
        loop {
            if state.engine.poll() {
                since = Instant::now();
            }
            if let Some(result) = awaited.look(&mut state) {
                return result;
            }
            state.answer_if_asked(&awaited);
            drop(state);
            offers += 1;
            if offers.is_multiple_of(OFFERS_PER_CLOCK) && since.elapsed() > self.policy.patience {
                if let Some(result) = self.sleep(&mut awaited) {
                    return result;
                }
                since = Instant::now().checked_sub(self.policy.patience).unwrap_or(since);
                offers = OFFERS_PER_CLOCK - 1;
            } else {
                yield_now();
            }
            state = self.enter();
        }
    }

    /// Sleeps, unless there is something to do after all.
    fn sleep<A: Awaited>(&self, awaited: &mut A) -> Option<A::Outcome> {
        let (doorbell, waker) = self.bed;
        let mut result = None;
        doorbell.sleep(&waker, self.policy.nap, || {
            let mut state = self.enter();
            let moved = state.engine.poll();
            result = awaited.look(&mut state);
            if !moved && result.is_none() {
                result = self.look_for_the_last_time(&mut state, awaited);
            }
            moved || result.is_some() || state.is_asked()
        });
        result
    }

    /// Ends this process if what is awaited will never come, because a rank has left that it needs.
    fn look_for_the_last_time<A: Awaited>(&self, state: &mut State, awaited: &mut A) -> Option<A::Outcome> {
        let mut absent = state.engine.absent(self.is_world_only());
        awaited.misses(state, &mut absent)?;
        // What it told before it left is here, and dealt with now.
        absent.settle();
        while state.engine.poll() {}
        let result = awaited.look(state);
        if result.is_none()
            && let Some(rank) = awaited.misses(state, &mut absent)
        {
            self.strand(state, rank);
        }
        result
    }

    /// The gate is not kept from another thread while this one waits. Without one, the processor is kept: on a
    /// busy machine it takes long to come back.
    #[inline]
    fn let_others_in<'a>(&'a self, state: Entered<'a, State>) -> Entered<'a, State> {
        if !state.is_awaited() {
            return state;
        }
        drop(state);
        yield_now();
        self.enter()
    }
}
