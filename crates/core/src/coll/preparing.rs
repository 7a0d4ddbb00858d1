//! How the ranks prepare a persistent collective together: they tell each other where their lines are and what they
//! wish, open a channel, and choose the plan.
//!
//! Each offers as many lines as the algorithm needs that it expects. If the ranks agree on another one, because only
//! some wished it, or because it was the fastest when all were tried, they leave the channel and open a second one.
//!
//! MPI-5.0: Collective Communication, Persistent Collective Operations.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Address, Addresses, Call, Called, ChannelKey, ChannelPlan, Form, Lines, Program};
use oxmpi_plan::{MAX_LINES, Peer};

use super::exchange::exchange;
use super::measuring::Measured;
use super::operation::Operation;
use super::placing::Known;
use super::wish::{Agreement, Wish};
use crate::comm::Communicator;
use crate::lines::{NO_LINES, abandon, check_lines, offer_lines, withdraw};
use crate::process::{Process, State};
use crate::record::{Record, Records};

/// What a rank tells the others when it prepares a persistent collective.
#[derive(Clone, Copy, Debug)]
struct Preparation {
    lines: u64,
    /// What there is room for in them.
    form: Form,
    wish: Wish,
    context: u32,
    called: Called,
    /// The length that `called` says, however long; 0 where it says none.
    bytes: u64,
    known: Known,
}

/// Where a wish stands behind a form, in a word.
const WISH_AT: u32 = 24;
const _: () = assert!(Form::WORD_BITS <= WISH_AT);

/// How a plan came to be chosen.
#[derive(Clone, Debug)]
pub(super) enum Reason {
    Estimated,
    /// By trying all of these, in nanoseconds of a run.
    Measured(Vec<(Arc<Program>, Option<f64>)>),
    Named,
}

/// The plan that all ranks have agreed on.
struct Choice {
    plan: Arc<Program>,
    reason: Reason,
    channel: ChannelKey,
    /// Whether the channel serves it: all ranks have offered the lines that it needs.
    is_prepared: bool,
}

impl Process {
    /// The channel and the plan of a persistent operation. Collective.
    ///
    /// # Errors
    /// As [`Process::persistent`].
    pub(super) fn bind(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        wish: Wish,
    ) -> Result<(ChannelKey, Arc<Program>)> {
        let (theirs, channel) = self.open_together(comm, operation, wish, None)?;
        let everybody = || theirs.local.iter().chain(&theirs.remote);
        let known = everybody().map(|other| other.known).reduce(Known::of_both);
        let known = known.expect("this rank is one of them");
        if self.shows_plans || everybody().any(|other| other.wish != Wish::default()) {
            let wishes = everybody().map(|other| other.wish).collect();
            return self.bind_as_wished(comm, operation, wishes, known, channel);
        }
        let plan = self.plan_among(comm, operation, known);
        let plan = plan.inspect_err(|_| self.enter().engine.leave_channel(channel))?;
        Ok((channel, plan))
    }

    /// The same of ranks with these wishes, on a channel for what each has wished, or on another one.
    #[cold]
    fn bind_as_wished(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        wishes: Vec<Wish>,
        known: Known,
        channel: ChannelKey,
    ) -> Result<(ChannelKey, Arc<Program>)> {
        let choice = self.choose(comm, operation, &wishes, known, channel);
        let choice = choice.inspect_err(|_| self.enter().engine.leave_channel(channel))?;
        if self.shows_plans {
            self.show_plan(comm, operation, &choice.plan, &choice.reason);
        }
        if choice.is_prepared {
            return Ok((choice.channel, choice.plan));
        }
        self.enter().engine.leave_channel(choice.channel);
        let channel = self.open_for(comm, operation, &choice.plan)?;
        Ok((channel, choice.plan))
    }

    /// Opens a channel with all others, who do so by the same algorithm.
    ///
    /// # Errors
    /// As [`Process::persistent`].
    pub(super) fn open_for(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        plan: &Program,
    ) -> Result<ChannelKey> {
        let lines = (!operation.knows_own_lengths_only()).then_some(plan.lines.len());
        self.open_together(comm, operation, Wish::default(), lines).map(|(_, channel)| channel)
    }

    /// Opens a channel with all others, for runs of so many lines, or as many as what is wished needs; and what they
    /// tell.
    #[inline]
    fn open_together(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        wish: Wish,
        lines: Option<usize>,
    ) -> Result<(Records<Preparation>, ChannelKey)> {
        let prepare = || self.enter().prepare(comm, operation, wish, lines);
        let (mut mine, mut lines) = prepare();
        if mine.lines == NO_LINES && self.let_others_leave() {
            withdraw(&mut self.enter().engine, &[mine.context], lines);
            (mine, lines) = prepare();
        }
        let theirs = exchange(self, comm, &mine).and_then(|theirs| agreed(comm.rank(), &mine, theirs));
        let mut state = self.enter();
        match theirs {
            Err(error) => {
                abandon(&mut state.engine, &[mine.context]);
                Err(error)
            }
            Ok(theirs) => match all_have_lines(&theirs) {
                Err(error) => {
                    withdraw(&mut state.engine, &[mine.context], lines);
                    Err(error)
                }
                Ok(()) => state.open_channel(comm, &theirs, lines).map(|channel| (theirs, channel)),
            },
        }
    }

    /// What all ranks do who have these wishes.
    fn choose(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        wishes: &[Wish],
        known: Known,
        channel: ChannelKey,
    ) -> Result<Choice> {
        // Lines enough for any plan were offered then.
        let serves_all = operation.knows_own_lengths_only();
        match Agreement::of(wishes.iter().copied()) {
            Agreement::Estimate => {
                let plan = self.plan_among(comm, operation, known)?;
                Ok(Choice { plan, reason: Reason::Estimated, channel, is_prepared: true })
            }
            Agreement::Measure => {
                let candidates = self.plans_among(comm, operation, known);
                // Who fails has nothing to try, and so lets the others go on.
                let measured =
                    self.measure(comm, operation, candidates.as_deref().unwrap_or_default(), channel);
                let (candidates, measured) = (candidates?, measured?);
                let Measured { best, times_ns, channel } = measured;
                // Who is beside the root has nothing else to do in any of them.
                let plan = Arc::clone(candidates.get(best).unwrap_or(&candidates[0]));
                // Messages between nodes are bound to what stood in for the program's memory.
                let is_prepared = times_ns.is_empty() || !self.enter().engine.channel(channel).is_spread();
                let reason = Reason::Measured(candidates.into_iter().zip(times_ns).collect());
                Ok(Choice { plan, reason, channel, is_prepared })
            }
            Agreement::Named(numbers) => {
                let candidates = self.plans_among(comm, operation, known)?;
                let plan = named(&candidates, &operation.algorithm_names(comm), &numbers);
                let reason = if plan.is_some() { Reason::Named } else { Reason::Estimated };
                let is_prepared = serves_all || wishes.iter().all(|wish| *wish == wishes[0]);
                let plan = plan.unwrap_or_else(|| Arc::clone(&candidates[0]));
                Ok(Choice { plan, reason, channel, is_prepared })
            }
        }
    }
}

/// The first of the algorithms with these numbers, of those with `names`, that is among the candidates.
fn named(candidates: &[Arc<Program>], names: &[&str], numbers: &[usize]) -> Option<Arc<Program>> {
    let wanted = numbers.iter().filter_map(|&number| names.get(number));
    let find = |name: &&str| candidates.iter().find(|candidate| candidate.algorithm() == Some(*name));
    wanted.filter_map(find).next().map(Arc::clone)
}

impl State {
    /// Lines that a run of an operation may have, as far as this rank can say, if all wish the same.
    fn lines_of(&mut self, comm: &Communicator, operation: &Operation, wish: Wish) -> usize {
        if operation.knows_own_lengths_only() {
            return MAX_LINES; // the lengths of others decide, too
        }
        let plan = wish.named().and_then(|number| {
            named(&self.programs(comm, operation), &operation.algorithm_names(comm), &[number])
        });
        plan.unwrap_or_else(|| self.share_plan(comm, operation)).lines.len()
    }

    fn prepare(
        &mut self,
        comm: &Communicator,
        operation: &Operation,
        wish: Wish,
        lines: Option<usize>,
    ) -> (Preparation, Option<Lines>) {
        let remote = if comm.is_inter() { comm.peers() } else { 0 };
        let lines = lines.unwrap_or_else(|| self.lines_of(comm, operation, wish));
        let form = self.engine.form_of_operation(lines, operation.signature.is_some());
        let (offset, lines) = offer_lines(&mut self.engine, comm.size() + remote, form);
        let context = self.engine.p2p.open_context();
        let known = Known::of(comm, operation.irregular.as_deref());
        let (called, bytes) = operation.prepared(comm.rank());
        (Preparation { lines: offset, form, wish, context, called, bytes, known }, lines)
    }

    fn open_channel(
        &mut self,
        comm: &Communicator,
        theirs: &Records<Preparation>,
        lines: Option<Lines>,
    ) -> Result<ChannelKey> {
        let channel = self.engine.channel(comm.channel);
        let beside =
            |peer, other: &Preparation| Address { peer: channel.address(peer).peer, context: other.context };
        let members: Addresses =
            (0..).zip(&theirs.local).map(|(rank, other)| beside(Peer::Local(rank), other)).collect();
        let remote: Addresses =
            (0..).zip(&theirs.remote).map(|(rank, other)| beside(Peer::Remote(rank), other)).collect();
        let everybody = theirs.local.iter().chain(&theirs.remote);
        let form = everybody.clone().map(|other| other.form).reduce(Form::common);
        let form = form.expect("this rank is one of them");
        let offsets = if lines.is_some() { everybody.map(|other| other.lines).collect() } else { Vec::new() };
        let plan = ChannelPlan { rank: comm.rank(), members, remote, beside: None, lines: offsets, form };
        self.engine.open_channel(plan, lines)
    }
}

/// What all ranks tell, if they prepare the same.
fn agreed(rank: u32, mine: &Preparation, theirs: Records<Preparation>) -> Result<Records<Preparation>> {
    for (group, whose) in [(&theirs.local, "rank"), (&theirs.remote, "remote rank")] {
        let mut others = (0..).zip(group.iter());
        if let Some((other, class)) =
            others.find_map(|(place, other)| mine.conflict(other).map(|class| (place, class)))
        {
            let who = format!("{whose} {other}");
            return Err(mismatch(class, rank, mine.called, &who, group[other].called));
        }
    }
    Ok(theirs)
}

/// Whether all ranks have the memory for it: else nobody opens what was offered, whoever has heard of the others.
fn all_have_lines(theirs: &Records<Preparation>) -> Result<()> {
    check_lines("group", theirs.local.iter().map(|other| other.lines))?;
    check_lines("remote group", theirs.remote.iter().map(|other| other.lines))
}

#[cold]
fn mismatch(class: ErrorClass, rank: u32, mine: Called, who: &str, other: Called) -> Error {
    let (mine, other) = (mine.describe(), other.describe());
    let text = format!("ranks prepare different collectives: rank {rank} calls {mine}, {who} calls {other}");
    Error::new(class, text)
}

impl Preparation {
    /// In what two ranks differ that must not.
    fn conflict(&self, other: &Self) -> Option<ErrorClass> {
        let is_longer = || (self.bytes != other.bytes).then_some(ErrorClass::Truncate);
        self.called.conflict(other.called).or_else(is_longer)
    }
}

impl Record for Preparation {
    const BYTES: usize = 32 + Known::BYTES;
    const CALL: Call = Call::PREPARATION;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.lines.to_ne_bytes());
        into.extend_from_slice(&self.called.to_word().to_ne_bytes());
        into.extend_from_slice(&self.bytes.to_ne_bytes());
        into.extend_from_slice(&self.context.to_ne_bytes());
        into.extend_from_slice(
            &(self.form.to_word() | u32::from(self.wish.to_byte()) << WISH_AT).to_ne_bytes(),
        );
        self.known.write(into);
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        let (called, known) = (Called::of_word(word(8)), Known::read(&from[32..]));
        let (context, form) = (half(24), Form::of_word(half(28)));
        let wish = Wish::of_byte((half(28) >> WISH_AT) as u8);
        Self { lines: word(0), form, wish, called, bytes: word(16), context, known }
    }
}
