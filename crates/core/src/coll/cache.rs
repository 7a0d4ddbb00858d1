//! The plans of a process's communicators, so that a collective called again is not compiled again.
//!
//! A few places per communicator, each for any case: a case goes to the place that its hash names, and drives
//! out what was there. Looking up costs a short hash and a comparison of some 40 bytes, giving back the comparison of
//! an address.

use std::ops::Deref;
use std::sync::Arc;

use oxmpi_base::{Function, Ordered};
use oxmpi_engine::{Call, ChannelKey, Program};
use oxmpi_fabric::Prices;
use oxmpi_plan::{Root, Shape, Uneven, select};

use super::again::Calls;
use super::case::Case;
use super::irregular::{Form, Lengths};
use super::machines::Machines;
use crate::comm::Communicator;

/// See the module.
#[derive(Debug)]
pub(crate) struct PlanCache {
    machines: Machines,
    places: Ordered<ChannelKey, Box<Places>>,
    /// The communicator looked up last, which is mostly the one looked up next.
    recent: Option<(ChannelKey, Box<Places>)>,
    /// By communicator, those of blocks with lengths of their own; the one used last is the last.
    irregular: Ordered<ChannelKey, Vec<(Function, Lengths, Arc<Program>)>>,
    /// By communicator, reduce-scatters of blocks that differ, the latest last.
    uneven: Ordered<ChannelKey, Vec<UnevenEntry>>,
}

/// What is known of a communicator.
#[derive(Debug)]
struct Places {
    cases: [Option<Entry>; PLACES],
    calls: Calls,
}

#[derive(Debug)]
struct Entry {
    case: Case,
    /// `None` while it is lent.
    plan: Option<Arc<Program>>,
    /// The address of the plan that was lent last.
    lent: usize,
}

/// A plan for one run.
#[derive(Debug)]
pub(crate) struct Lent {
    plan: Arc<Program>,
    /// Where it is to be given back to; [`PLACES`] if it is shared.
    place: usize,
}

impl Lent {
    /// A plan that nobody wants back.
    pub(super) fn shared(plan: Arc<Program>) -> Self {
        Self { plan, place: PLACES }
    }
}

impl Deref for Lent {
    type Target = Arc<Program>;

    #[inline]
    fn deref(&self) -> &Arc<Program> {
        &self.plan
    }
}

#[derive(Debug)]
struct UnevenEntry {
    uneven: Uneven,
    in_place: bool,
    plan: Arc<Program>,
}

const PLACES: usize = 64;

/// Programs that repeat a few calls in turn are served.
const IRREGULAR_PLACES: usize = 8;

/// The most reduce-scatters of blocks that differ kept for a communicator.
const UNEVEN_PLACES: usize = 8;

impl PlanCache {
    pub(crate) fn new(machines: Machines) -> Self {
        Self {
            machines,
            places: Ordered::new(),
            recent: None,
            irregular: Ordered::new(),
            uneven: Ordered::new(),
        }
    }

    /// What messages between nodes cost from now on. Communicators of several nodes are yet to be made.
    pub(crate) fn meet_network(&mut self, network: Prices) {
        self.machines.meet_network(network);
    }

    /// This rank's plan for a case, to be given back: that costs less than sharing it.
    #[inline]
    pub(crate) fn lend(&mut self, comm: &Communicator, case: &Case) -> Lent {
        let place = place_of(case);
        let entry = &mut self.places_of(comm.channel).cases[place];
        if let Some(Entry { case: cached, plan: plan @ Some(_), lent }) = entry
            && *cached == *case
            && let Some(plan) = plan.take()
        {
            *lent = Arc::as_ptr(&plan).addr();
            return Lent { plan, place };
        }
        self.lend_new(comm, case)
    }

    #[cold]
    fn lend_new(&mut self, comm: &Communicator, case: &Case) -> Lent {
        let plan = Arc::new(self.compile(comm, case, case.call(comm.rank())));
        let (place, lent) = (place_of(case), Arc::as_ptr(&plan).addr());
        self.places_of(comm.channel).cases[place] = Some(Entry { case: *case, plan: None, lent });
        Lent { plan, place }
    }

    /// This rank's plan for a case, of ranks that make `call`.
    pub(super) fn compile(&mut self, comm: &Communicator, case: &Case, call: Call) -> Program {
        let Case { shape, in_place } = *case;
        let nodes = self.machines.nodes_for(shape.collective.info().is_reduction(), shape.nodes);
        let shape = Shape { nodes, ..shape };
        let algorithm = select(&shape, self.machines.of_cores(comm.cores));
        let program = Program::new(algorithm.plan(&shape, comm.rank(), in_place), call);
        if shape.is_alone() { program } else { program.by(algorithm.name()) }
    }

    /// Takes back a plan that was lent, unless another one has taken its place meanwhile.
    #[inline]
    pub(crate) fn give_back(&mut self, channel: ChannelKey, lent: Lent) {
        let Lent { plan, place } = lent;
        if place < PLACES
            && let Some(entry) = &mut self.places_of(channel).cases[place]
            && entry.lent == Arc::as_ptr(&plan).addr()
        {
            entry.plan = Some(plan);
        }
    }

    /// This rank's plan for a case, shared.
    pub(crate) fn share(&mut self, comm: &Communicator, case: &Case) -> Arc<Program> {
        let lent = self.lend(comm, case);
        let plan = Arc::clone(&lent);
        self.give_back(comm.channel, lent);
        plan
    }

    /// This rank's plan for blocks of these lengths, from what it knows alone: others may have theirs still, or no
    /// more.
    pub(super) fn of_lengths(
        &mut self,
        comm: &Communicator,
        function: Function,
        form: &Form,
        lengths: &Lengths,
    ) -> Arc<Program> {
        let known = self.irregular.get_or_default(comm.channel);
        let is_it = |(other, of, _): &(Function, Lengths, _)| *other == function && of == lengths;
        let entry = match known.iter().rposition(is_it) {
            Some(place) => known.remove(place),
            None => {
                if known.len() == IRREGULAR_PLACES {
                    known.remove(0);
                }
                (
                    function,
                    lengths.clone(),
                    Arc::new(Program::new(form.plan(lengths, comm), form.call(function, lengths))),
                )
            }
        };
        let plan = Arc::clone(&entry.2);
        known.push(entry);
        plan
    }

    /// This rank's plan, which works in place or not, for a reduce-scatter of blocks that differ, shared: of one that
    /// is the same if there is any, else of that which `uneven` makes.
    pub(crate) fn uneven(
        &mut self,
        comm: &Communicator,
        in_place: bool,
        is_same: impl Fn(&Uneven) -> bool,
        uneven: impl FnOnce() -> Uneven,
    ) -> Arc<Program> {
        let known = self.uneven.get_or_default(comm.channel);
        let found = known.iter().find(|entry| entry.in_place == in_place && is_same(&entry.uneven));
        if let Some(entry) = found {
            return Arc::clone(&entry.plan);
        }
        let uneven = uneven();
        let uneven = Uneven { nodes: self.machines.nodes_for(true, uneven.nodes), ..uneven };
        if known.len() == UNEVEN_PLACES {
            known.remove(0);
        }
        // Both groups have as many elements.
        let call = Call::new(Function::ReduceScatterInit).of_bytes(uneven.lengths.iter().sum());
        let overrides = self.machines.of_cores(comm.cores);
        let plan = uneven.compile(comm.rank(), in_place, overrides);
        let program = Program::new(plan, call.in_units(uneven.unit));
        let plan = Arc::new(match uneven.selected(overrides) {
            Some(name) => program.by(name),
            None => program,
        });
        known.push(UnevenEntry { uneven, in_place, plan: Arc::clone(&plan) });
        plan
    }

    /// The plans of `rank` by all algorithms that serve the blocks of a reduce-scatter, whose `plan` is here.
    pub(super) fn uneven_like(
        &self,
        channel: ChannelKey,
        rank: u32,
        plan: &Arc<Program>,
    ) -> Vec<Arc<Program>> {
        let known = self.uneven.get(channel).into_iter().flatten();
        let all = known
            .filter(|entry| Arc::ptr_eq(&entry.plan, plan))
            .flat_map(|entry| entry.uneven.plans(rank, entry.in_place));
        all.map(|(name, made)| Arc::new(Program::new(made, plan.call()).by(name))).collect()
    }

    /// Forgets the plans of a communicator.
    pub(crate) fn forget(&mut self, channel: ChannelKey) {
        self.irregular.remove(channel);
        self.places.remove(channel);
        self.uneven.remove(channel);
        self.recent.take_if(|(recent, _)| *recent == channel);
    }

    /// The calls of a communicator that may be made again.
    #[inline]
    pub(super) fn calls_of(&mut self, channel: ChannelKey) -> &mut Calls {
        &mut self.places_of(channel).calls
    }

    #[inline]
    fn places_of(&mut self, channel: ChannelKey) -> &mut Places {
        if self.recent.as_ref().is_none_or(|(recent, _)| *recent != channel) {
            self.make_recent(channel);
        }
        &mut self.recent.as_mut().expect("just made").1
    }

    #[cold]
    fn make_recent(&mut self, channel: ChannelKey) {
        let places = self.places.remove(channel).unwrap_or_else(|| Box::new(Places::NONE));
        if let Some((before, places)) = self.recent.replace((channel, places)) {
            self.places.insert(before, places);
        }
    }
}

impl Places {
    const NONE: Self = Self { cases: [const { None }; PLACES], calls: Calls::NONE };
}

#[inline]
fn place_of(case: &Case) -> usize {
    let Shape { collective, root, bytes, .. } = case.shape;
    let root = match root {
        Root::Rank(root) => root,
        Root::Here => u32::MAX,
        Root::Beside => u32::MAX - 1,
    };
    let word = bytes << 5 ^ collective as u64 ^ u64::from(root) << 40;
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}
const _: () = assert!(PLACES == 1 << (64 - 58));
