//! What ranks print, cut into whole lines.
//!
//! Pure: bytes in, bytes out. Lines of different ranks are never mixed; an incomplete last line is kept until its
//! rank's stream ends. A line longer than [`LONGEST_LINE_BYTES`] is passed on in pieces.

use std::fmt::Write;
use std::mem;
use std::time::{Duration, SystemTime};

/// What each line begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// The number of the rank's job, where that is told.
    pub job: Option<u32>,
    /// The rank, if lines are tagged.
    pub rank: Option<u32>,
    /// Whether the time is told.
    pub timestamp: bool,
}

/// Assembles the lines of one stream of one rank.
#[derive(Debug)]
pub struct LineAssembler {
    prefix: Prefix,
    partial: Vec<u8>,
    /// Part of the present line has been passed on already.
    is_mid_line: bool,
    passes_all: bool,
}

/// Memory that an unfinished line may take.
pub const LONGEST_LINE_BYTES: usize = 1 << 20;

impl LineAssembler {
    /// Lines that begin with `prefix`.
    pub fn new(prefix: Prefix) -> Self {
        Self { prefix, partial: Vec::new(), is_mid_line: false, passes_all: false }
    }

    /// Passes everything on at once: for a rank whose output cannot be mixed with another's.
    pub fn transparent() -> Self {
        Self { prefix: Prefix::default(), partial: Vec::new(), is_mid_line: false, passes_all: true }
    }

    /// Passes whole lines on only: there are others now whose output could be mixed with this one's.
    pub fn cut_lines(&mut self) {
        self.passes_all = false;
    }

    /// Takes what the rank has written; appends the lines that are complete to `out`.
    pub fn push(&mut self, bytes: &[u8], now: SystemTime, out: &mut Vec<u8>) {
        let end = match bytes.iter().rposition(|&byte| byte == b'\n') {
            _ if self.passes_all => bytes.len(),
            Some(last) => last + 1,
            None if self.partial.len() + bytes.len() > LONGEST_LINE_BYTES => bytes.len(),
            None => 0,
        };
        let (whole, rest) = bytes.split_at(end);
        if !whole.is_empty() {
            let mut lines = mem::take(&mut self.partial);
            lines.extend_from_slice(whole);
            self.emit(&lines, now, out);
        }
        self.partial.extend_from_slice(rest);
    }

    /// Whether a line is incomplete, and none of what is kept of it has been passed on.
    pub fn has_partial(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Appends what there is of an incomplete line to `out`: it may be a question to the user.
    pub fn release(&mut self, now: SystemTime, out: &mut Vec<u8>) {
        let partial = mem::take(&mut self.partial);
        self.emit(&partial, now, out);
    }

    /// The line that [`LineAssembler::release`] has passed on was ended to let somebody else print.
    pub fn end_line(&mut self) {
        self.is_mid_line = false;
    }

    /// Appends the incomplete last line to `out`; tagged lines get the end they lack.
    pub fn finish(&mut self, now: SystemTime, out: &mut Vec<u8>) {
        self.release(now, out);
        if self.is_mid_line && self.is_prefixed() {
            out.push(b'\n');
        }
    }

    fn emit(&mut self, lines: &[u8], now: SystemTime, out: &mut Vec<u8>) {
        let Some(last) = lines.last() else { return };
        let continues = mem::replace(&mut self.is_mid_line, *last != b'\n');
        if !self.is_prefixed() {
            return out.extend_from_slice(lines);
        }
        let prefix = self.prefix.text(now);
        for (index, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if index > 0 || !continues {
                out.extend_from_slice(prefix.as_bytes());
            }
            out.extend_from_slice(line);
        }
    }

    fn is_prefixed(&self) -> bool {
        self.prefix != Prefix::default()
    }
}

impl Prefix {
    fn text(self, now: SystemTime) -> String {
        let mut text = String::new();
        if self.timestamp {
            text += &utc(now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
        }
        match (self.job, self.rank) {
            (Some(job), Some(rank)) => write!(text, "[{job}:{rank}]"),
            (None, Some(rank)) => write!(text, "[{rank}]"),
            (_, None) => Ok(()),
        }
        .expect("strings take everything");
        text + " "
    }
}

/// The moment `since_epoch` after the beginning of 1970 as `2026-11-21T09:03:04.123Z`.
fn utc(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let milliseconds = since_epoch.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01.
///
/// Counts in years that begin in March, so that the leap day comes last.
fn civil_date(days: u64) -> (u64, u64, u64) {
    const DAYS_PER_ERA: u64 = 146_097; // 400 years
    let days = days + 719_468; // since 0000-03-01
    let (era, day) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153; // 0 is March
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + next_year, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assemble(prefix: Prefix, pieces: &[&[u8]]) -> String {
        let mut assembler = LineAssembler::new(prefix);
        let mut out = Vec::new();
        for piece in pieces {
            assembler.push(piece, SystemTime::UNIX_EPOCH, &mut out);
            assert!(out.is_empty() || out.ends_with(b"\n"), "only whole lines before the end");
        }
        assembler.finish(SystemTime::UNIX_EPOCH, &mut out);
        String::from_utf8(out).expect("text")
    }

    const TAGGED: Prefix = Prefix { job: None, rank: Some(3), timestamp: false };

    #[test]
    fn tagged_lines_begin_with_the_rank_and_all_end() {
        assert_eq!(assemble(TAGGED, &[b"a\nb", b"c\n\nd"]), "[3] a\n[3] bc\n[3] \n[3] d\n");
    }

    #[test]
    fn an_incomplete_last_line_stays_incomplete_without_a_tag() {
        assert_eq!(assemble(Prefix::default(), &[b"a\nb", b"c"]), "a\nbc");
    }

    #[test]
    fn a_time_comes_before_the_rank() {
        let prefix = Prefix { job: None, rank: Some(0), timestamp: true };
        assert_eq!(assemble(prefix, &[b"x\n"]), "1970-01-01T00:00:00.000Z[0] x\n");
    }

    #[test]
    fn an_endless_line_is_passed_on_in_pieces() {
        let mut assembler = LineAssembler::new(Prefix::default());
        let mut out = Vec::new();
        for _ in 0..3 {
            assembler.push(&[b'x'; LONGEST_LINE_BYTES / 2], SystemTime::UNIX_EPOCH, &mut out);
        }
        assert!(out.len() > LONGEST_LINE_BYTES);
    }

    #[test]
    fn a_transparent_assembler_keeps_nothing() {
        let mut out = Vec::new();
        LineAssembler::transparent().push(b"name? ", SystemTime::UNIX_EPOCH, &mut out);
        assert_eq!(out, b"name? ");
    }

    #[test]
    fn a_released_line_goes_on_without_a_second_tag() {
        let mut assembler = LineAssembler::new(TAGGED);
        let mut out = Vec::new();
        assembler.push(b"name? ", SystemTime::UNIX_EPOCH, &mut out);
        assert!(out.is_empty() && assembler.has_partial());
        assembler.release(SystemTime::UNIX_EPOCH, &mut out);
        assembler.push(b"Ada\nx", SystemTime::UNIX_EPOCH, &mut out);
        assembler.release(SystemTime::UNIX_EPOCH, &mut out);
        assembler.finish(SystemTime::UNIX_EPOCH, &mut out);
        assert_eq!(out, b"[3] name? Ada\n[3] x\n");
    }

    #[test]
    fn known_dates_are_told() {
        assert_eq!(utc(Duration::from_millis(951_782_400_007)), "2000-02-29T00:00:00.007Z");
        assert_eq!(utc(Duration::from_secs(1_795_251_784)), "2026-11-21T09:03:04.000Z");
        assert_eq!(utc(Duration::from_secs(4_107_542_399)), "2100-02-28T23:59:59.000Z");
    }

    fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop_oneof![Just(b'\n'), any::<u8>()];
        proptest::collection::vec(proptest::collection::vec(byte, 0..20), 0..20)
    }

    proptest! {
        #[test]
        fn untagged_output_is_unchanged_however_it_is_cut(
            pieces in pieces()
        ) {
            let mut assembler = LineAssembler::new(Prefix::default());
            let mut out = Vec::new();
            for piece in &pieces {
                assembler.push(piece, SystemTime::UNIX_EPOCH, &mut out);
                prop_assert!(out.is_empty() || out.ends_with(b"\n"));
            }
            assembler.finish(SystemTime::UNIX_EPOCH, &mut out);
            prop_assert_eq!(out, pieces.concat());
        }
    }
}
