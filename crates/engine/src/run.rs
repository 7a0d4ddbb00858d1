//! A run: one execution of a plan, resumed as often as it must wait.
//!
//! This is the only thing that executes plans. A blocking call keeps its run on the stack, a nonblocking one
//! leaves it with the engine, a persistent one begins it again and again. Cost per step: a few nanoseconds
//! beside the copy or the reduction; no allocation once a run has been through once.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_op::Reducer;
use oxmpi_plan::{Action, Buf, Line as PlanLine, Peer, Plan, Span, Step, Take};
use oxmpi_shm::{Arena, INLINE_BYTES};

use crate::channel::Channel;
use crate::matching::Pattern;
use crate::p2p::{Mode, OpKey, P2p, Received};

/// What the roles of a plan's buffers stand for in one operation.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The data that this rank contributes; in place, a part of `recv`.
    pub send: Buffer,
    /// Where this rank's result goes.
    pub recv: Buffer,
    /// How contributions are combined, where they are. The buffers of a reduction are dense.
    pub reducer: Option<Reducer>,
    /// Copied when a run begins.
    pub before: Option<Transfer>,
    /// Copied when a run is complete.
    pub after: Option<Transfer>,
    /// Regions of the pool that stand in for the user's buffers; they go back with the run.
    pub images: Vec<Region>,
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
    /// The user's buffers, as they are.
    pub fn new(send: Buffer, recv: Buffer) -> Self {
        Self { send, recv, reducer: None, before: None, after: None, images: Vec::new() }
    }
}

impl Transfer {
    fn perform(&self, p2p: &mut P2p) {
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

/// See the module.
#[derive(Debug)]
pub struct Run {
    plan: Arc<Plan>,
    binding: Binding,
    number: u64,
    iterations: u64,
    iteration: u64,
    step: usize,
    scratch: Region,
    /// Sends and receives under way, with the step that began them.
    under_way: Vec<(u32, OpKey)>,
    /// Offset of what this rank stages for each of its lines.
    staged: [Option<u64>; crate::LINES_PER_RUN],
    finished: bool,
}

/// What a run needs of the engine.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    pub p2p: &'a mut P2p,
    pub channel: &'a mut Channel,
    pub arena: &'a mut Arena,
}

/// Sequence numbers of a line: those of run `k` begin at `k` times this.
const SEGMENTS_PER_RUN: u64 = 1 << 24;

impl Run {
    pub(crate) fn new(plan: Arc<Plan>, binding: Binding) -> Self {
        assert!(plan.segments < SEGMENTS_PER_RUN, "segments are large enough");
        let iterations = plan.iterations();
        Self {
            plan,
            binding,
            number: 0,
            iterations,
            iteration: 0,
            step: 0,
            scratch: Region::EMPTY,
            under_way: Vec::new(),
            staged: [None; crate::LINES_PER_RUN],
            finished: true,
        }
    }

    /// Begins run `number` of the channel.
    #[inline]
    pub(crate) fn begin(&mut self, number: u64, p2p: &mut P2p) {
        self.number = number;
        self.iteration = 0;
        self.step = 0;
        self.finished = false;
        self.staged = [None; crate::LINES_PER_RUN];
        if self.plan.scratch_bytes != 0 {
            self.scratch = p2p.pool.take(self.plan.scratch_bytes as usize);
        }
        if let Some(before) = &self.binding.before {
            before.perform(p2p);
        }
    }

    /// Whether the run holds regions of the pool between its beginnings.
    #[inline]
    pub fn has_images(&self) -> bool {
        !self.binding.images.is_empty()
    }

    /// Gives back what the run holds.
    pub(crate) fn retire(self, p2p: &mut P2p) {
        self.binding.images.into_iter().for_each(|image| p2p.pool.give(image));
    }

    /// Whether the run is complete, or has not begun.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Does what can be done now; whether the run is complete.
    ///
    /// # Errors
    /// Those of the messages and of shared memory. The run is over then, and its result undefined.
    #[inline]
    pub(crate) fn advance(&mut self, means: &mut Means<'_>) -> Result<bool> {
        if self.finished {
            return Ok(true);
        }
        if !means.channel.admits(self.number) {
            return Ok(false);
        }
        let plan = Arc::clone(&self.plan);
        while self.iteration < self.iterations {
            while let Some(step) = plan.steps.get(self.step) {
                if !self.perform(step, means)? {
                    return Ok(false);
                }
                self.step += 1;
            }
            self.iteration += 1;
            self.step = 0;
        }
        if !self.completed(None, means.p2p)? {
            return Ok(false);
        }
        self.finish(means);
        Ok(true)
    }

    fn finish(&mut self, means: &mut Means<'_>) {
        self.finished = true;
        if !self.scratch.is_empty() {
            means.p2p.pool.give(std::mem::replace(&mut self.scratch, Region::EMPTY));
        }
        if let Some(after) = &self.binding.after {
            after.perform(means.p2p);
        }
        means.channel.complete(self.number, means.p2p);
    }

    /// One step, for the segment it works on in this iteration; false if it must wait.
    #[inline]
    fn perform(&mut self, step: &Step, means: &mut Means<'_>) -> Result<bool> {
        let Some(segment) = self.iteration.checked_sub(u64::from(step.delay)) else { return Ok(true) };
        if segment >= self.plan.segments {
            return Ok(true);
        }
        if !step.after.is_empty() && !self.completed(Some(&step.after), means.p2p)? {
            return Ok(false);
        }
        match step.action {
            Action::Post { line, from } => return self.post(line, &from, segment, means),
            Action::Pull { peer, line, skip, into, take } => {
                return Ok(self.pull(peer, line, skip, &into, take, segment, means));
            }
            Action::Copy { from, into } => self.copy(&from, &into, segment, means.p2p),
            Action::Reduce { left, right, into } => {
                let [left, right, into] = [left, right, into].map(|span| self.dense(&span, segment));
                self.reducer().combine(&left, &right, &into);
            }
            Action::Send { to, from } => self.send(to, &from, means),
            Action::Receive { from, into } => self.receive(from, &into, means)?,
        }
        Ok(true)
    }

    #[inline]
    fn post(&mut self, line: u8, from: &Span, segment: u64, means: &mut Means<'_>) -> Result<bool> {
        if !means.channel.has_credit(self.number) {
            return Ok(false);
        }
        let own = means.channel.line(means.channel.rank(), self.number, line);
        let sequence = self.sequence(segment);
        let (offset, bytes) = from.at(segment);
        let shape = self.plan.lines[usize::from(line)];
        if is_inline(&shape, &self.plan) {
            match self.part(from.buf, offset, bytes) {
                Some(region) => own.post(sequence, &region),
                None => {
                    self.buffer(from.buf).read(offset, &own.payload().part(0, bytes as usize));
                    own.post(sequence, &Region::EMPTY);
                }
            }
        } else {
            let base = self.stage(line, &shape, means)?;
            let slot = base + segment % u64::from(shape.depth) * shape.slot_bytes;
            let slot = means.channel.region(slot, bytes);
            match self.part(from.buf, offset, bytes) {
                Some(region) => slot.copy_from(&region),
                None => self.buffer(from.buf).read(offset, &slot),
            }
            own.post_at(sequence, base);
        }
        means.channel.wake_members(means.p2p);
        Ok(true)
    }

    /// Where this rank stages what it posts on a line in this run.
    fn stage(&mut self, line: u8, shape: &PlanLine, means: &mut Means<'_>) -> Result<u64> {
        if let Some(base) = self.staged[usize::from(line)] {
            return Ok(base);
        }
        let bytes = shape.slot_bytes * u64::from(shape.depth);
        let base = means.channel.stage(self.number, bytes, means.arena)?.offset;
        self.staged[usize::from(line)] = Some(base);
        Ok(base)
    }

    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the fields of `Action::Pull`, and where it happens")]
    fn pull(
        &self,
        peer: Peer,
        line: u8,
        skip: u64,
        into: &Span,
        take: Take,
        segment: u64,
        means: &Means<'_>,
    ) -> bool {
        let theirs = means.channel.line(member(peer), self.number, line);
        if !theirs.reached(self.sequence(segment)) {
            return false;
        }
        let (offset, bytes) = into.at(segment);
        if bytes == 0 {
            return true;
        }
        let shape = &self.plan.lines[usize::from(line)];
        let posted = if is_inline(shape, &self.plan) {
            theirs.payload().part(skip as usize, bytes as usize)
        } else {
            let slot = theirs.offset() + segment % u64::from(shape.depth) * shape.slot_bytes;
            means.channel.region(slot + skip, bytes)
        };
        match take {
            Take::Copy => match self.part(into.buf, offset, bytes) {
                Some(region) => region.copy_from(&posted),
                None => self.buffer(into.buf).write(offset, &posted),
            },
            Take::Left { right } => {
                let (right, into) = (self.dense(&right, segment), self.dense(into, segment));
                self.reducer().combine(&posted, &right, &into);
            }
            Take::Right { left } => {
                let (left, into) = (self.dense(&left, segment), self.dense(into, segment));
                self.reducer().combine(&left, &posted, &into);
            }
        }
        true
    }

    fn copy(&self, from: &Span, into: &Span, segment: u64, p2p: &mut P2p) {
        let ((source, bytes), (target, _)) = (from.at(segment), into.at(segment));
        match (self.part(from.buf, source, bytes), self.part(into.buf, target, bytes)) {
            (Some(source), Some(target)) => target.copy_from(&source),
            (None, Some(target)) => self.buffer(from.buf).read(source, &target),
            (Some(source), None) => self.buffer(into.buf).write(target, &source),
            (None, None) => {
                let (from, into) = (self.buffer(from.buf), self.buffer(into.buf));
                let (from, into) = (from.slice(source, bytes), into.slice(target, bytes));
                Transfer { from, into }.perform(p2p);
            }
        }
    }

    fn send(&mut self, to: Peer, from: &Span, means: &mut Means<'_>) {
        let buffer = self.sub_buffer(from);
        let address = means.channel.members()[member(to) as usize];
        let (rank, tag) = (means.channel.rank() as i32, self.tag());
        if let Some(key) = means.p2p.send(address, rank, tag, &buffer, Mode::Standard) {
            self.under_way.push((self.step as u32, key));
        }
    }

    fn receive(&mut self, from: Peer, into: &Span, means: &mut Means<'_>) -> Result<()> {
        let buffer = self.sub_buffer(into);
        let pattern = Pattern { source: Some(member(from) as i32), tag: Some(self.tag()) };
        match means.p2p.receive(means.channel.context(), pattern, buffer) {
            Received::Done(outcome) => outcome.error.map_or(Ok(()), Err),
            Received::Pending(key) => {
                self.under_way.push((self.step as u32, key));
                Ok(())
            }
        }
    }

    /// Whether the sends and receives begun by `steps` (by all steps, if `None`) are over.
    #[inline]
    fn completed(&mut self, steps: Option<&[u32]>, p2p: &mut P2p) -> Result<bool> {
        let mut place = 0;
        let mut all = true;
        while let Some(&(step, key)) = self.under_way.get(place) {
            if steps.is_some_and(|steps| !steps.contains(&step)) {
                place += 1;
            } else if let Some(outcome) = p2p.take_outcome(key) {
                self.under_way.swap_remove(place);
                if let Some(error) = outcome.error {
                    return Err(error);
                }
            } else {
                all = false;
                place += 1;
            }
        }
        Ok(all)
    }

    /// What a message carries or fills.
    fn sub_buffer(&self, span: &Span) -> Buffer {
        let (offset, bytes) = span.at(0);
        match self.part(span.buf, offset, bytes) {
            Some(region) => Buffer::dense(region),
            None => self.buffer(span.buf).slice(offset, bytes),
        }
    }

    fn dense(&self, span: &Span, segment: u64) -> Region {
        let (offset, bytes) = span.at(segment);
        self.part(span.buf, offset, bytes).expect("the buffers of a reduction are dense")
    }

    /// The bytes of a buffer, where they are one piece of memory.
    #[inline]
    fn part(&self, buf: Buf, offset: u64, bytes: u64) -> Option<Region> {
        if bytes == 0 {
            return Some(Region::EMPTY);
        }
        match buf {
            Buf::Send => self.binding.send.part(offset, bytes),
            Buf::Recv => self.binding.recv.part(offset, bytes),
            Buf::Scratch => Some(self.scratch.part(offset as usize, bytes as usize)),
        }
    }

    fn buffer(&self, buf: Buf) -> &Buffer {
        match buf {
            Buf::Send => &self.binding.send,
            Buf::Recv => &self.binding.recv,
            Buf::Scratch => unreachable!("scratch is always one piece"),
        }
    }

    fn reducer(&self) -> &Reducer {
        self.binding.reducer.as_ref().expect("a plan that reduces is bound to an operation")
    }

    #[inline]
    fn sequence(&self, segment: u64) -> u64 {
        self.number * SEGMENTS_PER_RUN + segment + 1
    }

    /// Messages of different runs of a channel are kept apart by their tags.
    fn tag(&self) -> i32 {
        (self.number & 0x7fff_ffff) as i32
    }

    /// Where the run stands, for reports.
    pub(crate) fn describe(&self, channel: &Channel) -> String {
        let Some(step) = self.plan.steps.get(self.step) else {
            return format!("run {}: {} messages are on their way", self.number, self.under_way.len());
        };
        let begin = format!("run {}, step {} of {}", self.number, self.step, self.plan.steps.len());
        if !channel.admits(self.number) {
            return format!("run {}: waits for earlier ones", self.number);
        }
        match step.action {
            Action::Pull { peer, .. } => format!("{begin}: waits for rank {peer}"),
            Action::Post { .. } => format!("{begin}: waits until all ranks have completed earlier runs"),
            _ => format!("{begin}: waits for messages"),
        }
    }
}

/// Whether what is posted on a line travels in the line itself. The same on all ranks.
#[inline]
fn is_inline(line: &PlanLine, plan: &Plan) -> bool {
    line.slot_bytes <= INLINE_BYTES as u64 && plan.segments == 1
}

fn member(peer: Peer) -> u32 {
    match peer {
        Peer::Local(rank) => rank,
        Peer::Remote(_) => unreachable!("plans for intercommunicators are not made yet"),
    }
}
