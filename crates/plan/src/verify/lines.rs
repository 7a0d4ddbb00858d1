//! Lines and their slots: what was posted where, and who has pulled it.

use std::ops::Range;

use super::clock::{Clock, Moment};
use super::contract::Contract;
use super::pieces::Pieces;
use super::{Flaw, FlawKind, LINE_SETS, MAX_RANKS, form};
use crate::{Action, Plan};

/// Which post: the run, and the segment in it.
pub(super) type Stamp = (u32, u64);

/// All lines of all ranks.
pub(super) struct Lines {
    /// By rank and set of lines, then line.
    lines: Vec<Vec<Line>>,
}

/// One line of one rank, in one set.
struct Line {
    slots: Vec<Slot>,
    slot_bytes: u64,
    /// The ranks that pull from it, as often as they do, and in which segments.
    readers: Vec<(u32, Range<u64>)>,
}

/// One slot of a line.
#[derive(Clone, Default)]
struct Slot {
    posted: Option<Posted>,
    /// Who has pulled what is there, and the number of his action.
    pulls: Vec<(u32, u32)>,
}

/// What a slot holds.
#[derive(Clone)]
pub(super) struct Posted {
    stamp: Stamp,
    /// How many bytes.
    pub(super) bytes: u64,
    /// What they stand for.
    pub(super) pieces: Pieces,
    /// When it was posted.
    pub(super) moment: Moment,
}

impl Lines {
    /// The lines that `plans` declare, empty.
    ///
    /// # Errors
    /// [`FlawKind::Malformed`] if somebody pulls from a rank that does not exist, or is on another node.
    pub(super) fn new(contract: &Contract, plans: &[Plan]) -> Result<Self, Flaw> {
        let empty = |line: &crate::Line| Line {
            slots: vec![Slot::default(); line.depth as usize],
            slot_bytes: line.slot_bytes,
            readers: Vec::new(),
        };
        let declared = form::lines(contract, plans);
        let sets = |lines: &&[crate::Line]| {
            let set = |_| lines.iter().map(empty).collect();
            (0..LINE_SETS).map(set).collect::<Vec<_>>()
        };
        let mut all = Self { lines: declared.iter().flat_map(sets).collect() };
        for ((reader, plan), declared) in (0..).zip(plans).zip(declared) {
            for step in &plan.steps {
                let (peer, line, segments) = match step.action {
                    Action::Excerpt { peer, line, begin, into } => {
                        let slot = declared[usize::from(line)].slot_bytes.max(1);
                        (peer, line, begin / slot..(begin + into.bytes).div_ceil(slot))
                    }
                    Action::Pull { peer, line, .. } => (peer, line, 0..plan.segments),
                    _ => continue,
                };
                let owner = contract.resolve(reader, peer)?;
                if !contract.shares(reader, owner) {
                    let text = format!("rank {reader} pulls from rank {owner}, which is on another node");
                    return Err(Flaw::new(FlawKind::Malformed, text));
                }
                for set in 0..LINE_SETS {
                    all.line_mut(owner, set, line).readers.push((reader, segments.clone()));
                }
            }
        }
        Ok(all)
    }

    /// `owner` posts; `clock` is what it knows.
    ///
    /// # Errors
    /// [`FlawKind::Race`] if what was in the slot may not have been pulled by all who will pull it;
    /// [`FlawKind::Malformed`] if the slot is too short.
    pub(super) fn post(
        &mut self,
        owner: u32,
        line: u8,
        stamp: Stamp,
        bytes: u64,
        pieces: Pieces,
        clock: &Clock,
    ) -> Result<(), Flaw> {
        let line = self.line_mut(owner, stamp.0, line);
        if bytes > line.slot_bytes {
            let text = format!("posts {bytes} bytes into a slot of {}", line.slot_bytes);
            return Err(Flaw::new(FlawKind::Malformed, text));
        }
        let index = (stamp.1 % line.slots.len() as u64) as usize;
        let slot = &mut line.slots[index];
        if let Some(old) = &slot.posted {
            let (run, segment) = old.stamp;
            // By rank, how often it pulls what is there and is not known to have done so.
            let mut awaited = [0_u32; MAX_RANKS as usize];
            let readers = line.readers.iter().filter(|(_, segments)| segments.contains(&segment));
            readers.for_each(|&(reader, _)| awaited[reader as usize] += 1);
            let known = slot.pulls.iter().filter(|&&(who, number)| clock.knows(who as usize, number));
            known.for_each(|&(who, _)| awaited[who as usize] = awaited[who as usize].saturating_sub(1));
            if let Some(reader) = awaited.iter().position(|&times| times > 0) {
                let place = format!("segment {segment} of run {run}");
                let text = format!("overwrites {place} without knowing that rank {reader} has pulled it");
                return Err(Flaw::new(FlawKind::Race, text));
            }
        }
        slot.posted = Some(Posted { stamp, bytes, pieces, moment: clock.moment() });
        slot.pulls.clear();
        Ok(())
    }

    /// What `owner` posted at `stamp`, if it has done so already.
    ///
    /// # Errors
    /// [`FlawKind::Race`] if it has been overwritten.
    pub(super) fn posted(&self, owner: u32, line: u8, stamp: Stamp) -> Result<Option<&Posted>, Flaw> {
        let line = &self.lines[Self::set(owner, stamp.0)][usize::from(line)];
        let slot = &line.slots[(stamp.1 % line.slots.len() as u64) as usize];
        match &slot.posted {
            Some(posted) if posted.stamp == stamp => Ok(Some(posted)),
            Some(posted) if posted.stamp > stamp => {
                let (run, segment) = posted.stamp;
                let text = format!("finds segment {segment} of run {run} in the slot instead");
                Err(Flaw::new(FlawKind::Race, text))
            }
            _ => Ok(None),
        }
    }

    /// Records that action `number` of `reader` has pulled what `owner` posted at `stamp`.
    pub(super) fn pulled(&mut self, owner: u32, line: u8, stamp: Stamp, reader: u32, number: u32) {
        let line = self.line_mut(owner, stamp.0, line);
        let index = (stamp.1 % line.slots.len() as u64) as usize;
        line.slots[index].pulls.push((reader, number));
    }

    fn set(owner: u32, run: u32) -> usize {
        (owner * LINE_SETS + run % LINE_SETS) as usize
    }

    fn line_mut(&mut self, owner: u32, run: u32, line: u8) -> &mut Line {
        &mut self.lines[Self::set(owner, run)][usize::from(line)]
    }
}
