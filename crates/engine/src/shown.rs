//! What the members of a channel show, by place.
//!
//! Mostly the lines of all lie at equal distances in a part of the segment that one mapping shows: those that ranks
//! have from the start, and those of communicators that they have made in the same order
//! ([`Rows`](oxmpi_shm::Rows)). Then that is all that is kept, however many members there are.

use oxmpi_base::Result;
use oxmpi_shm::{FIRST_LINES, Line, Segment};

use crate::lines::Form;

/// See the module.
#[derive(Debug)]
pub(crate) struct Shown {
    kept: Kept,
    members: usize,
    /// Lines of a member.
    each: usize,
}

#[derive(Debug)]
enum Kept {
    /// By place.
    List(Box<[&'static [Line]]>),
    /// All lines from those of the first member to those of the last; so many lie between the beginnings of two.
    Row { lines: &'static [Line], step: usize },
}

/// Who lies side by side has no more than this for each rank of the job.
const SIDE_BY_SIDE: u64 = (FIRST_LINES * size_of::<Line>()) as u64;

impl Shown {
    /// What members show who have no lines.
    pub(crate) const NOTHING: Self = Self { kept: Kept::Row { lines: &[], step: 0 }, members: 0, each: 0 };

    /// What members show whose lines begin at these offsets of a segment, of so many ranks.
    ///
    /// # Errors
    /// As [`Segment::lines`].
    pub(crate) fn within(
        segment: &'static Segment,
        ranks: usize,
        offsets: &[u64],
        form: Form,
    ) -> Result<Self> {
        let (members, each) = (offsets.len(), form.count());
        if let Some(step) = distance(offsets, ranks)
            && let Ok(lines) = segment.lines(offsets[0], (members - 1) * step + each)
        {
            return Ok(Self { kept: Kept::Row { lines, step }, members, each });
        }
        Self::among(offsets.iter().map(|&offset| Some((segment, offset))), form)
    }

    /// What members show whose lines begin at these offsets, each of a segment; none of those on other nodes.
    ///
    /// # Errors
    /// As [`Segment::lines`].
    pub(crate) fn among(
        members: impl IntoIterator<Item = Option<(&'static Segment, u64)>>,
        form: Form,
    ) -> Result<Self> {
        let shown = members
            .into_iter()
            .map(|place| place.map_or(Ok(&[][..]), |(segment, offset)| form.seen(segment, offset)));
        let all: Box<[_]> = shown.collect::<Result<_>>()?;
        Ok(Self { members: all.len(), kept: Kept::List(all), each: form.count() })
    }

    /// A line of the member at a place.
    ///
    /// # Panics
    /// If there is no such member, or it has no such line.
    #[inline]
    pub(crate) fn line(&self, place: usize, line: usize) -> &'static Line {
        match &self.kept {
            Kept::List(all) => &all[place][line],
            Kept::Row { lines, step } => &lines[place * step + line],
        }
    }

    /// All lines of the member at a place, if it has some that are seen here.
    pub(crate) fn get(&self, place: usize) -> Option<&'static [Line]> {
        match &self.kept {
            Kept::List(all) => all.get(place).copied().filter(|lines| !lines.is_empty()),
            Kept::Row { lines, step } => (place < self.members).then(|| &lines[place * step..][..self.each]),
        }
    }

    /// What all show, by place, as far as it is seen here.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<&'static [Line]>> + '_ {
        (0..self.members).map(|place| self.get(place))
    }
}

/// How many lines lie between the beginnings of what two neighbours show, if these are as many everywhere, and not more
/// than where the `ranks` of a job have something side by side.
fn distance(offsets: &[u64], ranks: usize) -> Option<usize> {
    let [first, second, ..] = offsets else { return Some(0).filter(|_| !offsets.is_empty()) };
    let step = second.checked_sub(*first).filter(|&step| step <= ranks as u64 * SIDE_BY_SIDE)?;
    let is_equal = offsets.windows(2).all(|two| two[1].checked_sub(two[0]) == Some(step));
    let line = size_of::<Line>() as u64;
    (is_equal && step != 0 && step.is_multiple_of(line)).then_some((step / line) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_at_equal_distances_side_by_side_is_a_row() {
        assert_eq!(distance(&[], 4), None);
        assert_eq!(distance(&[64], 4), Some(0));
        assert_eq!(distance(&[0, 256], 4), Some(2));
        assert_eq!(distance(&[128, 1152, 2176], 4), Some(8));
        for odd in
            [[128, 1152, 2177], [128, 192, 256], [2176, 1152, 128], [128, 128, 128], [0, 1 << 20, 2 << 20]]
        {
            assert_eq!(distance(&odd, 4), None, "{odd:?}");
        }
        assert_eq!(distance(&[0, u64::MAX], 4), None);
    }
}
