//! What each member of a channel shows to the others: lines, one behind the other.
//!
//! | lines | what |
//! |---|---|
//! | 1 | how many runs the member has completed; and, told once, by which word it will show that it has left |
//! | those of a run, as often as runs can be under way | what it posts |
//! | 4, or none | what it calls, where that is noted: not beside the first line, which others read meanwhile |
//! | 64, or none | the types of its data, where they are compared |
//!
//! As many runs can be under way as have a place beside the lines of the other ranks, without what they have of types.
//! Blocks of shared memory have a power of two of lines, so little is wasted. The members of a channel may have made
//! room for runs of more or fewer lines, or for more or fewer at a time: as far as all have, it is used. Who posts on
//! fewer lines than others has a smaller block, and nobody looks at what lies behind it.
//!
//! The first line of a run is there more often than those behind it: most plans have one, those above all by which a
//! rank gets ahead of others. Where a run's lines are follows from its number alone, so that all agree, also who has no
//! part in a run.

use std::ops::Range;

use oxmpi_base::Result;
use oxmpi_plan::MAX_LINES;
use oxmpi_shm::{
    Arena, Block, CALL_LINES, CALLS, Calls, Departure, FIRST_LINES, Line, Rows, Segment, Signatures,
};

/// How much a member of a channel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// Lines of a run.
    lines: u8,
    /// Runs that can be under way.
    depth: u8,
    /// Those that can have posted on a line behind the first, a power of two and no more: which one.
    behind: u8,
    notes: Notes,
}

/// What a rank notes of its calls, for others to look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notes {
    // From the least to the most.
    /// Nothing.
    None,
    /// What it calls.
    Calls,
    /// Also the types of its data.
    Types,
}

/// Shared memory for what a rank shows in a channel that is going to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    pub(crate) block: Block,
    pub(crate) word: Word,
}

/// The word by which this rank shows that it has left a channel, and where that lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    offset: u64,
    departure: &'static Departure,
    /// Of its use now, or the last one; 0 if there was none.
    number: u64,
}

/// A member that may not have left yet: the word by which it will say so, and in which use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departing {
    departure: &'static Departure,
    number: u64,
}

/// What a rank has for channels, besides its arena.
#[derive(Debug)]
pub(crate) struct Stock {
    /// Its places beside those of the other ranks.
    rows: Rows,
    /// Its words that serve no channel. Their memory is never used for anything else: see [`Departure`].
    words: Vec<Word>,
}

/// Runs of a channel that can be under way at the same time, at most: the farther the first to come may be ahead, the
/// more calls share what it costs to hand a processor over.
pub(crate) const DEPTH: usize = 63;
const _: () = assert!(DEPTH <= CALLS, "what is called is known as long as lines are kept");
const _: () = assert!(Form::OF_FIRST_LINES.count() == FIRST_LINES);
/// Lines that have a place beside those of the other ranks.
const PLACE_LINES: usize = Rows::PLACE_BYTES / size_of::<Line>();

/// Of channels that are many.
const SHALLOW_DEPTH: usize = 3;
/// So many channels are not many.
const FEW: usize = 1024;

/// Words that are taken from the arena at once, when none lie beside those of the other ranks.
const WORDS: usize = 128;

impl Form {
    /// Of the communicator that exists from the start.
    pub(crate) const OF_FIRST_LINES: Self =
        Self { lines: MAX_LINES as u8, depth: DEPTH as u8, behind: DEPTH.ilog2() as u8, notes: Notes::Types };

    /// Of a communicator: it is not known what will be called.
    #[must_use]
    pub const fn of_communicator(notes: Notes) -> Self {
        Self::in_place(MAX_LINES, notes)
    }

    /// Of so many lines, for as many runs as have a place.
    const fn in_place(lines: usize, notes: Notes) -> Self {
        let none = Self { lines: 0, depth: 0, behind: 0, notes };
        let free = PLACE_LINES - none.without_types();
        let (depth, behind) = match lines {
            0 | 1 => (free, DEPTH.ilog2()),
            lines => {
                let behind = (free / lines).ilog2();
                (free - ((lines - 1) << behind), behind)
            }
        };
        let depth = if depth < DEPTH { depth } else { DEPTH };
        Self { lines: lines as u8, depth: depth as u8, behind: behind as u8, notes }
    }

    /// Of an operation whose runs have so many lines, where there are so many channels already.
    #[must_use]
    pub(crate) fn of_operation(lines: usize, notes: Notes, channels: usize) -> Self {
        // What is noted lies behind the lines of runs, also of who has none but reads those of others, mostly one each.
        let least = if notes == Notes::None { 0 } else { 1 };
        let form = Self::in_place(lines.clamp(least, MAX_LINES), notes);
        let of_many = || Self {
            depth: SHALLOW_DEPTH as u8,
            behind: form.behind.min(SHALLOW_DEPTH.ilog2() as u8),
            ..form
        };
        if channels < FEW { form } else { of_many() }
    }

    /// What two members both can make use of. Lines count where they are posted on: who has none reads those of others.
    #[must_use]
    pub fn common(self, other: Self) -> Self {
        Self {
            lines: self.lines.max(other.lines),
            depth: self.depth.min(other.depth),
            behind: self.behind.min(other.behind),
            notes: self.notes.min(other.notes),
        }
    }

    /// What [`Form::to_word`] needs; what stands above it does not count.
    pub const WORD_BITS: u32 = 24;

    /// As a number, for others to read.
    pub fn to_word(self) -> u32 {
        u32::from_ne_bytes([self.lines | self.behind << 4, self.depth, self.notes as u8, 0])
    }

    /// The inverse of [`Form::to_word`]. What no rank of this version tells is a form all the same.
    pub fn of_word(word: u32) -> Self {
        let [lines, depth, notes, _] = word.to_ne_bytes();
        let notes = match notes {
            0 => Notes::None,
            1 => Notes::Calls,
            _ => Notes::Types,
        };
        let depth = depth.clamp(1, DEPTH as u8);
        let behind = (lines >> 4).min(depth.ilog2() as u8);
        Self { lines: (lines & 0xf).min(MAX_LINES as u8), depth, behind, notes }
    }

    /// Runs that can be under way.
    #[inline]
    pub(crate) fn depth(self) -> u64 {
        u64::from(self.depth)
    }

    /// Runs that can have posted on a line and not be complete everywhere.
    #[inline]
    pub(crate) fn depth_on(self, line: u8) -> u64 {
        if line == 0 { self.depth() } else { 1 << self.behind }
    }

    /// The run whose first line has credit if a line of `run` has.
    #[inline]
    pub(crate) fn as_on_first(self, run: u64, line: u8) -> u64 {
        if line == 0 { run } else { run + self.depth() - self.depth_on(line) }
    }

    /// Where a line of a run behind its first one is.
    #[inline]
    pub(crate) fn behind_first(self, run: u64, line: u8) -> usize {
        let turn = run as usize & ((1 << self.behind) - 1);
        1 + usize::from(self.depth) + (usize::from(line - 1) << self.behind) + turn
    }

    /// Where the lines of all runs are that are one line of a plan, among those of a member.
    pub(crate) fn column(self, line: u8) -> Range<usize> {
        if line == 0 {
            return 1..1 + usize::from(self.depth);
        }
        let begin = self.behind_first(0, line);
        begin..begin + (1 << self.behind)
    }

    /// Whether the runs of a plan that has so many lines fit.
    pub(crate) fn admits(self, lines: usize) -> bool {
        lines <= usize::from(self.lines)
    }

    /// All lines.
    pub(crate) const fn count(self) -> usize {
        self.without_types() + if let Notes::Types = self.notes { CALLS } else { 0 }
    }

    /// Those of runs, and the one before them.
    const fn of_runs(self) -> usize {
        match self.lines {
            0 => 1,
            lines => 1 + self.depth as usize + ((lines as usize - 1) << self.behind),
        }
    }

    /// Those, and what is noted of calls.
    const fn without_types(self) -> usize {
        self.of_runs() + if let Notes::None = self.notes { 0 } else { CALL_LINES }
    }

    /// What a member shows whose lines begin at `offset` of `segment`, as far as there may be something.
    pub(crate) fn seen(self, segment: &'static Segment, offset: u64) -> Result<&'static [Line]> {
        segment.lines_up_to(offset, self.count())
    }

    /// What a member shows whose lines begin at `offset` of `segment`, all of it.
    pub(crate) fn shown(self, segment: &'static Segment, offset: u64) -> Result<&'static [Line]> {
        segment.lines(offset, self.count())
    }

    /// Where a member that shows this notes its calls, if it does.
    #[inline]
    pub(crate) fn calls(self, shown: &[Line]) -> Option<&Calls> {
        if self.notes < Notes::Calls { None } else { Calls::on(shown.get(self.of_runs()..)?) }
    }

    /// What types it notes.
    pub(crate) fn signatures(self, shown: &[Line]) -> Option<&Signatures> {
        Signatures::on(&shown[self.without_types()..])
    }

    /// Room for this, told where this rank will say that it has left.
    ///
    /// # Errors
    /// `NoMem`, as [`Arena::take`].
    pub(crate) fn take(
        self,
        stock: &mut Stock,
        arena: &mut Arena,
        segment: &'static Segment,
    ) -> Result<Lines> {
        let word = stock.take_word(arena, segment)?;
        let made = stock.take_block(self.count() * size_of::<Line>(), arena).and_then(|block| {
            let shown = self.shown(segment, block.offset).inspect_err(|_| stock.give_block(block, arena))?;
            Ok((block, shown))
        });
        let (block, shown) = made.inspect_err(|_| stock.show(word))?;
        shown.iter().for_each(Line::clear);
        if let Some(calls) = self.calls(shown) {
            calls.clear();
        }
        if let Some(signatures) = self.signatures(shown) {
            signatures.clear();
        }
        shown[0].write_word(0, word.offset);
        let number = word.departure.begin(word.number);
        shown[0].write_word(1, number);
        Ok(Lines { block, word: Word { number, ..word } })
    }
}

impl Lines {
    /// Where they lie: what the other members are to be told.
    pub fn offset(&self) -> u64 {
        self.block.offset
    }
}

impl Departing {
    /// That of a member which shows this; none if it will never say that it leaves.
    pub(crate) fn of(shown: &[Line], segment: &'static Segment) -> Option<Self> {
        let [offset, number] = [0, 1].map(|place| shown[0].word(place));
        if number == 0 {
            return None;
        }
        let [departure] = segment.departures(offset, 1).ok()? else { return None };
        Some(Self { departure, number })
    }

    /// Whether it has ended; what the member did before has happened.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.departure.is_shown(self.number)
    }
}

impl Stock {
    pub(crate) fn new(rows: Rows) -> Self {
        Self { rows, words: Vec::new() }
    }

    /// Memory for lines: beside that of the other ranks if it is as much as is had there.
    fn take_block(&mut self, bytes: usize, arena: &mut Arena) -> Result<Block> {
        let fits = bytes <= Rows::PLACE_BYTES && bytes > Rows::PLACE_BYTES / 2;
        match fits.then(|| self.rows.take()).flatten() {
            Some(block) => Ok(block),
            None => arena.take(bytes),
        }
    }

    /// Takes back what nobody looks at any more.
    pub(crate) fn give(&mut self, lines: Lines, arena: &mut Arena) {
        self.give_block(lines.block, arena);
    }

    fn give_block(&mut self, block: Block, arena: &mut Arena) {
        if !self.rows.give(block) {
            arena.give(block);
        }
    }

    fn take_word(&mut self, arena: &mut Arena, segment: &'static Segment) -> Result<Word> {
        if self.words.is_empty() {
            let block = match self.rows.take_words() {
                Some(block) => block,
                None => arena.take(WORDS * size_of::<Departure>())?,
            };
            let count = block.bytes / size_of::<Departure>();
            let all = segment.departures(block.offset, count).inspect_err(|_| arena.give(block))?;
            all.iter().for_each(Departure::clear);
            let words = (block.offset..).step_by(size_of::<Departure>()).zip(all);
            self.words.extend(words.map(|(offset, departure)| Word { offset, departure, number: 0 }));
        }
        Ok(self.words.pop().expect("just taken"))
    }

    /// Shows by a word that this rank has left what it was used for, and takes it back.
    pub(crate) fn show(&mut self, word: Word) {
        word.departure.show(word.number);
        self.words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_wasted() {
        let lines = |form: Form| form.count();
        for (of, many) in [(1, 4), (2, 6), (3, 8), (4, 10)] {
            assert_eq!(lines(Form::of_operation(of, Notes::None, 0)), PLACE_LINES);
            assert_eq!(lines(Form::of_operation(of, Notes::None, FEW)), many);
        }
        assert_eq!(lines(Form::of_operation(0, Notes::None, 0)), 1);
        assert_eq!(lines(Form::of_communicator(Notes::Calls)), PLACE_LINES);
    }

    #[test]
    fn runs_share_lines_only_if_they_are_not_under_way_together() {
        let of_communicator = Form::of_communicator(Notes::Calls);
        assert!(of_communicator.depth() > 4 * of_communicator.depth_on(1));
        for form in [Form::OF_FIRST_LINES, of_communicator, Form::of_operation(3, Notes::Calls, FEW)] {
            let mut used = vec![None; form.of_runs()];
            for run in 0..3 * form.depth() {
                for line in 0..form.lines {
                    let first = 1 + run as usize % usize::from(form.depth);
                    let at = if line == 0 { first } else { form.behind_first(run, line) };
                    let last = used[at].replace((run, line));
                    let is_over = |(last, of)| of == line && last + form.depth_on(line) == run;
                    assert!(
                        last.map_or(run < form.depth_on(line), is_over),
                        "{form:?} {run} {line} {last:?}"
                    );
                }
            }
            assert!(used[0].is_none() && used[1..].iter().all(Option::is_some), "{form:?}");
        }
    }

    #[test]
    fn forms_survive_their_word_and_have_a_common_one() {
        let [few, many] = [0, FEW].map(|channels| Form::of_operation(2, Notes::None, channels));
        let noted = Form::of_operation(0, Notes::Calls, 0);
        let beside_root = Form::of_operation(0, Notes::None, 0);
        for form in [few, many, noted, beside_root, Form::OF_FIRST_LINES] {
            assert_eq!(Form::of_word(form.to_word()), form);
            assert_eq!(form.common(form), form);
        }
        assert_eq!(few.common(many), many);
        assert_eq!(many.common(beside_root), many);
        assert_eq!(noted.common(many).notes, Notes::None);
        assert_eq!(noted, Form::of_operation(1, Notes::Calls, 0), "notes lie at one place");
        assert!(Form::of_word(u32::MAX).count() <= FIRST_LINES);
    }
}
