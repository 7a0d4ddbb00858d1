//! All ranks running their plans, step by step.

use std::mem;

use super::buffers::Buffers;
use super::channels::{Channels, Message};
use super::clock::{Clock, Moment};
use super::contract::{Contract, Synchronizes};
use super::lines::Lines;
use super::pieces::Pieces;
use super::schedule::Schedule;
use super::value::{Piece, combine};
use super::{Flaw, FlawKind, LINE_SETS, RUNS, Sends};
use crate::{Action, Buf, Peer, Plan, Span, Step, Take};

/// The ranks, and all that lies between them.
pub(super) struct World<'a> {
    contract: &'a Contract,
    plans: &'a [Plan],
    ranks: Vec<Rank<'a>>,
    lines: Lines,
    channels: Channels,
    /// For each run, what each rank knew when it had completed it.
    completed: Vec<Vec<Option<Moment>>>,
    /// For each run, the first result that a rank of each group got, for comparing brackets.
    results: Vec<[Option<Vec<Piece>>; 2]>,
}

/// One rank.
struct Rank<'a> {
    run: u32,
    /// The runs in which it knows that it may post.
    granted: u32,
    iterations: u64,
    iteration: u64,
    step: usize,
    clock: Clock,
    buffers: Buffers<'a>,
    /// Messages that have begun and are not known to be complete.
    pending: Vec<Pending>,
    /// The number of the first action of each run.
    begun: Vec<u32>,
    /// Of each line, whether what is posted there [stays](Plan::staying); and what of that was posted in this run.
    stays: Vec<bool>,
    left: Vec<(Span, u64, Pieces)>,
}

/// A message under way, and the memory it reads or writes.
struct Pending {
    step: u32,
    segment: u64,
    message: Message,
    is_send: bool,
    buf: Buf,
    begin: u64,
    end: u64,
}

/// What a rank can do next.
enum Next {
    Step(usize, u64),
    Complete,
    Nothing,
}

/// How a rank uses a range of memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl<'a> World<'a> {
    /// All ranks before their first step.
    ///
    /// # Errors
    /// As [`Lines::new`].
    pub(super) fn new(contract: &'a Contract, plans: &'a [Plan], sends: Sends) -> Result<Self, Flaw> {
        let ranks = (0..).zip(plans).zip(&contract.parts).map(|((rank, plan), part)| {
            let buffers = Buffers::new(part, rank, plan.scratch_bytes);
            let mut clock = Clock::new(plans.len());
            let begun = vec![clock.tick(rank as usize)];
            let (iterations, pending, left) = (plan.iterations(), Vec::new(), Vec::new());
            let stay = |line| buffers.within().is_some_and(|within| plan.staying(line, within).is_some());
            let stays = (0..plan.lines.len() as u8).map(stay).collect();
            Rank {
                run: 0,
                granted: LINE_SETS,
                iterations,
                iteration: 0,
                step: 0,
                clock,
                buffers,
                pending,
                begun,
                stays,
                left,
            }
        });
        Ok(Self {
            contract,
            plans,
            ranks: ranks.collect(),
            lines: Lines::new(contract, plans)?,
            channels: Channels::new(plans.len() as u32, sends),
            completed: vec![vec![None; plans.len()]; RUNS as usize],
            results: vec![[None, None]; RUNS as usize],
        })
    }

    /// Runs the plans to their end.
    pub(super) fn run(mut self, schedule: Schedule) -> Result<(), Flaw> {
        schedule.drive(self.plans.len() as u32, |rank| self.advance(rank))?;
        if self.ranks.iter().any(|rank| rank.run < RUNS) {
            return Err(self.deadlock());
        }
        self.channels.check_empty()
    }

    /// Lets `rank` make a step, or complete its run; says whether it could.
    fn advance(&mut self, rank: u32) -> Result<bool, Flaw> {
        match self.next(rank) {
            Next::Nothing => Ok(false),
            Next::Complete => self.complete(rank).map_err(|flaw| {
                flaw.at(format_args!("rank {rank}, end of run {}", self.ranks[rank as usize].run))
            }),
            Next::Step(index, segment) => {
                let run = self.ranks[rank as usize].run;
                let is_done = self.attempt(rank, index, segment).map_err(|flaw| {
                    let step = &self.plans[rank as usize].steps[index];
                    flaw.at(format_args!("rank {rank}, run {run}, step {index} ({step}), segment {segment}"))
                })?;
                self.ranks[rank as usize].step += usize::from(is_done);
                Ok(is_done)
            }
        }
    }

    /// Moves on to the next step that has a segment to work on.
    fn next(&mut self, rank: u32) -> Next {
        let plan = &self.plans[rank as usize];
        let state = &mut self.ranks[rank as usize];
        if state.run == RUNS {
            return Next::Nothing;
        }
        while state.iteration < state.iterations {
            while let Some(step) = plan.steps.get(state.step) {
                match state.iteration.checked_sub(u64::from(step.delay)) {
                    Some(segment) if segment < plan.segments => return Next::Step(state.step, segment),
                    _ => state.step += 1,
                }
            }
            state.step = 0;
            state.iteration += 1;
        }
        Next::Complete
    }

    /// Completes the run of `rank` if its messages are complete, and begins the next one.
    fn complete(&mut self, rank: u32) -> Result<bool, Flaw> {
        let index = rank as usize;
        if !self.settle(rank, |_| true)? {
            return Ok(false);
        }
        self.check_left(rank)?;
        let run = self.ranks[index].run;
        let result = self.ranks[index].buffers.check(run)?;
        self.compare(rank, run, result)?;
        let state = &mut self.ranks[index];
        state.clock.tick(index);
        let moment = state.clock.moment();
        self.check_have_begun(rank, run, &moment)?;
        self.completed[run as usize][index] = Some(moment);
        let state = &mut self.ranks[index];
        state.run += 1;
        (state.iteration, state.step) = (0, 0);
        state.begun.push(state.clock.tick(index));
        state.buffers.fill(run + 1);
        Ok(true)
    }

    /// What stays where it was posted is still there.
    fn check_left(&mut self, rank: u32) -> Result<(), Flaw> {
        for (span, segment, pieces) in mem::take(&mut self.ranks[rank as usize].left) {
            if self.read(rank, span, segment)? != pieces {
                let text = format!("{span} was posted to be read where it is, and overwritten");
                return Err(Flaw::new(FlawKind::Race, text));
            }
        }
        Ok(())
    }

    /// All ranks of a group must get the same bits from an allreduce.
    fn compare(&mut self, rank: u32, run: u32, result: Vec<Piece>) -> Result<(), Flaw> {
        if !self.contract.has_equal_results {
            return Ok(());
        }
        let first = &mut self.results[run as usize][self.contract.group(rank)];
        if *first.get_or_insert_with(|| result.clone()) != result {
            return Err(Flaw::new(FlawKind::Wrong, "brackets differ from those of another rank"));
        }
        Ok(())
    }

    /// Nobody may leave a barrier before those have come that it is for; see also `Shape::synchronizes`.
    fn check_have_begun(&self, rank: u32, run: u32, moment: &Moment) -> Result<(), Flaw> {
        let is_awaited = |other: &usize| match self.contract.synchronizes {
            Synchronizes::All => true,
            Synchronizes::Groups => self.contract.group(*other as u32) != self.contract.group(rank),
            Synchronizes::Nobody => false,
        };
        for other in (0..self.ranks.len()).filter(is_awaited) {
            let state = &self.ranks[other];
            let has_begun = state.begun.get(run as usize).is_some_and(|&begun| moment[other] >= begun);
            if !has_begun {
                let text = format!("is over, not knowing that rank {other} has begun it");
                return Err(Flaw::new(FlawKind::Wrong, text));
            }
        }
        Ok(())
    }

    /// Carries out a step if that is possible now; says whether it was.
    fn attempt(&mut self, rank: u32, index: usize, segment: u64) -> Result<bool, Flaw> {
        let plans = self.plans;
        let step = &plans[rank as usize].steps[index];
        let is_awaited = |pending: &Pending| pending.segment == segment && step.after.contains(&pending.step);
        let is_settled = step.after.is_empty() || self.settle(rank, is_awaited)?;
        if !is_settled || !self.is_ready(rank, step, segment)? {
            return Ok(false);
        }
        let number = self.ranks[rank as usize].clock.tick(rank as usize);
        match step.action {
            Action::Send { to, from } => self.send(rank, (index, segment), to, from)?,
            Action::Receive { from, into } => self.receive(rank, (index, segment), from, into)?,
            Action::Copy { from, into } => {
                let pieces = self.read(rank, from, segment)?;
                self.write(rank, into, segment, &pieces)?;
            }
            Action::Reduce { left, right, into } => {
                let left = self.read(rank, left, segment)?;
                let right = self.read(rank, right, segment)?;
                self.combine_into(rank, &left, &right, into, segment)?;
            }
            Action::Post { line, from } => {
                let pieces = self.read(rank, from, segment)?;
                let state = &mut self.ranks[rank as usize];
                let stamp = (state.run, segment);
                if state.stays[usize::from(line)] {
                    state.left.push((from, segment, pieces.clone()));
                }
                self.lines.post(rank, line, stamp, from.at(segment).1, pieces, &state.clock)?;
            }
            Action::Excerpt { peer, line, begin, into } => {
                if let Some((skip, into)) = self.excerpt(rank, line, begin, into, segment) {
                    let owner = self.contract.resolve(rank, peer)?;
                    let posted = self.pull(rank, owner, line, segment, number, skip, into)?;
                    self.write(rank, into, segment, &posted)?;
                }
            }
            Action::Pull { peer, line, skip, into, take } => {
                let owner = self.contract.resolve(rank, peer)?;
                let posted = self.pull(rank, owner, line, segment, number, skip, into)?;
                match take {
                    Take::Copy => self.write(rank, into, segment, &posted)?,
                    Take::Left { right } => {
                        let right = self.read(rank, right, segment)?;
                        self.combine_into(rank, &posted, &right, into, segment)?;
                    }
                    Take::Right { left } => {
                        let left = self.read(rank, left, segment)?;
                        self.combine_into(rank, &left, &posted, into, segment)?;
                    }
                }
            }
        }
        Ok(true)
    }

    /// Whether nothing outside `rank` keeps it from this step.
    fn is_ready(&mut self, rank: u32, step: &Step, segment: u64) -> Result<bool, Flaw> {
        let run = self.ranks[rank as usize].run;
        match step.action {
            Action::Post { .. }
                if run >= self.ranks[rank as usize].granted
                    && self.contract.synchronizes != Synchronizes::All =>
            {
                let earlier = &self.completed[(run - LINE_SETS) as usize];
                let is_near = |&(other, _): &(u32, _)| self.contract.shares(rank, other);
                let near = || (0..).zip(earlier).filter(is_near).map(|(_, moment)| moment);
                if near().any(Option::is_none) {
                    return Ok(false);
                }
                for moment in near().flatten() {
                    self.ranks[rank as usize].clock.join(moment);
                }
                self.ranks[rank as usize].granted = run + 1;
                Ok(true)
            }
            Action::Excerpt { line, begin, into, .. }
                if self.excerpt(rank, line, begin, into, segment).is_none() =>
            {
                Ok(true)
            }
            Action::Excerpt { peer, line, .. } | Action::Pull { peer, line, .. } => {
                let owner = self.contract.resolve(rank, peer)?;
                Ok(self.lines.posted(owner, line, (run, segment))?.is_some())
            }
            _ => Ok(true),
        }
    }

    /// If the messages of `rank` that are meant are complete, learns what that tells; says whether they are.
    fn settle(&mut self, rank: u32, is_meant: impl Fn(&Pending) -> bool) -> Result<bool, Flaw> {
        let state = &mut self.ranks[rank as usize];
        let channels = &self.channels;
        let mut meant = state.pending.iter().filter(|pending| is_meant(pending)).peekable();
        if meant.peek().is_none() {
            return Ok(true);
        }
        if !meant.all(|pending| channels.is_complete(pending.message)) {
            return Ok(false);
        }
        for pending in state.pending.extract_if(.., |pending| is_meant(pending)) {
            if let Some(moment) = channels.learned(pending.message) {
                state.clock.join(moment);
            }
            if !pending.is_send {
                let pieces = channels.received(pending.message)?;
                state.buffers.write(pending.buf, pending.begin, pieces);
            }
        }
        Ok(true)
    }

    fn send(&mut self, rank: u32, (index, segment): (usize, u64), to: Peer, from: Span) -> Result<(), Flaw> {
        let to = self.contract.resolve(rank, to)?;
        let pieces = self.read(rank, from, segment)?;
        let state = &mut self.ranks[rank as usize];
        let (offset, bytes) = from.at(segment);
        let message = self.channels.send(rank, to, bytes, pieces, state.clock.moment());
        let (buf, begin) = state.buffers.resolve(from.buf, offset);
        let step = index as u32;
        state.pending.push(Pending { step, segment, message, is_send: true, buf, begin, end: begin + bytes });
        Ok(())
    }

    fn receive(
        &mut self,
        rank: u32,
        (index, segment): (usize, u64),
        from: Peer,
        into: Span,
    ) -> Result<(), Flaw> {
        let from = self.contract.resolve(rank, from)?;
        self.check_access(rank, into, segment, Access::Write)?;
        let state = &mut self.ranks[rank as usize];
        let (offset, bytes) = into.at(segment);
        let message = self.channels.receive(from, rank, bytes, state.clock.moment());
        let (buf, begin) = state.buffers.resolve(into.buf, offset);
        let step = index as u32;
        state.pending.push(Pending {
            step,
            segment,
            message,
            is_send: false,
            buf,
            begin,
            end: begin + bytes,
        });
        Ok(())
    }

    /// See [`crate::Line::excerpt`].
    fn excerpt(&self, rank: u32, line: u8, begin: u64, into: Span, segment: u64) -> Option<(u64, Span)> {
        self.plans[rank as usize].lines[usize::from(line)].excerpt(begin, &into, segment)
    }

    /// Pulls what is there; returns the bytes behind `skip`, as many as `into` takes.
    #[allow(clippy::too_many_arguments, reason = "the parts of one action")]
    fn pull(
        &mut self,
        rank: u32,
        owner: u32,
        line: u8,
        segment: u64,
        number: u32,
        skip: u64,
        into: Span,
    ) -> Result<Pieces, Flaw> {
        let state = &mut self.ranks[rank as usize];
        let stamp = (state.run, segment);
        let posted = self.lines.posted(owner, line, stamp)?.expect("is_ready has seen it");
        state.clock.join(&posted.moment);
        let (_, bytes) = into.at(segment);
        if bytes > 0 && skip + bytes > posted.bytes {
            let text = format!("pulls bytes {skip}..{} of {} posted", skip + bytes, posted.bytes);
            return Err(Flaw::new(FlawKind::Malformed, text));
        }
        let taken = posted.pieces.iter().filter_map(|piece| piece.clip(skip, skip + bytes));
        let taken = taken.map(|piece| piece.unshift(skip)).collect();
        self.lines.pulled(owner, line, stamp, rank, number);
        Ok(taken)
    }

    fn combine_into(
        &mut self,
        rank: u32,
        left: &[Piece],
        right: &[Piece],
        into: Span,
        segment: u64,
    ) -> Result<(), Flaw> {
        let length = |pieces: &[Piece]| pieces.last().map_or(0, |piece| piece.end);
        if length(left) != length(right) {
            return Err(Flaw::new(FlawKind::Malformed, "operands of unequal lengths"));
        }
        let pieces = combine(left, right, self.contract.unit, self.contract.commutative)?;
        self.write(rank, into, segment, &pieces)
    }

    fn read(&self, rank: u32, span: Span, segment: u64) -> Result<Pieces, Flaw> {
        self.check_access(rank, span, segment, Access::Read)?;
        let (begin, bytes) = span.at(segment);
        if bytes == 0 {
            return Ok(Pieces::NONE);
        }
        self.ranks[rank as usize].buffers.read(span.buf, begin, bytes)
    }

    fn write(&mut self, rank: u32, span: Span, segment: u64, pieces: &[Piece]) -> Result<(), Flaw> {
        self.check_access(rank, span, segment, Access::Write)?;
        let (begin, bytes) = span.at(segment);
        if pieces.last().map_or(0, |piece| piece.end) != bytes {
            return Err(Flaw::new(FlawKind::Malformed, "source and target of unequal lengths"));
        }
        self.ranks[rank as usize].buffers.write(span.buf, begin, pieces);
        Ok(())
    }

    /// Checks that a span lies in its buffer and that no pending message uses its bytes.
    fn check_access(&self, rank: u32, span: Span, segment: u64, access: Access) -> Result<(), Flaw> {
        let state = &self.ranks[rank as usize];
        let (offset, bytes) = span.at(segment);
        let limit = state.buffers.bytes(span.buf);
        if bytes == 0 {
            return Ok(());
        }
        if offset + bytes > limit {
            let text = format!("bytes {offset}..{} of {limit} in {}", offset + bytes, span.buf);
            return Err(Flaw::new(FlawKind::Malformed, text));
        }
        let (buf, begin) = state.buffers.resolve(span.buf, offset);
        for pending in &state.pending {
            let is_same = pending.buf == buf && pending.begin < begin + bytes && begin < pending.end;
            if is_same && (access == Access::Write || !pending.is_send) {
                let text = format!("{span} is in use by step {}, which may not be complete", pending.step);
                return Err(Flaw::new(FlawKind::Race, text));
            }
        }
        Ok(())
    }

    /// Who waits for whom.
    fn deadlock(&mut self) -> Flaw {
        let mut waits = Vec::new();
        for rank in 0..self.plans.len() as u32 {
            let run = self.ranks[rank as usize].run;
            match self.next(rank) {
                Next::Nothing => {}
                Next::Complete => waits.push(format!("rank {rank} waits for its messages of run {run}")),
                Next::Step(index, segment) => {
                    let step = &self.plans[rank as usize].steps[index];
                    waits.push(format!(
                        "rank {rank} waits in run {run}, step {index} ({step}), segment {segment}"
                    ));
                }
            }
        }
        Flaw::new(FlawKind::Deadlock, waits.join("; "))
    }
}
