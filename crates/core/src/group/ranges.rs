//! Ranks given as triplets `(first, last, stride)`. MPI-5.0: Group Constructors, `MPI_GROUP_RANGE_INCL`.

use oxmpi_base::{Error, ErrorClass, Result};

use super::progression::Progression;
use super::sequence::Sequence;
use super::{checked_rank, distinct, given_twice};

/// The ranks, of a group of `size`, that the triplets name; of one triplet in constant time.
///
/// # Errors
/// `Arg` if a stride is 0 or leads away from the last rank; `Rank` if a rank is not of the group, or is named
/// twice.
pub fn ranks_of(ranges: &[[i32; 3]], size: u32) -> Result<Sequence> {
    let runs = ranges.iter().map(|&range| run(range, size)).collect::<Result<Vec<_>>>()?;
    if let [run] = runs[..] {
        return Ok(Sequence::Progression(run));
    }
    if runs.iter().map(|run| u64::from(run.len())).sum::<u64>() > u64::from(size) {
        return Err(given_twice("a rank"));
    }
    distinct(runs.iter().flat_map(|run| run.iter()).collect())
}

/// The ranks of one triplet. `last` need not be a rank, if the stride leads past it.
fn run([first, last, stride]: [i32; 3], size: u32) -> Result<Progression> {
    let begin = checked_rank(first.into(), size)?;
    let distance = i64::from(last) - i64::from(first);
    let stride = i64::from(stride);
    if stride == 0 || distance.signum() == -stride.signum() {
        let text = format!("the stride {stride} does not lead from {first} to {last}");
        return Err(Error::new(ErrorClass::Arg, text));
    }
    let steps = distance / stride;
    checked_rank(i64::from(first) + steps * stride, size)?;
    let steps = u32::try_from(steps).expect("not more than ranks of the group");
    Ok(Progression::new(begin, stride, steps + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(ranges: &[[i32; 3]]) -> Result<Vec<u32>> {
        Ok(ranks_of(ranges, 10)?.iter().collect())
    }

    #[test]
    fn ranges_run_up_and_down_and_end_where_the_stride_says() {
        assert_eq!(ranks(&[[0, 9, 4], [7, 5, -1]]).expect("legal"), [0, 4, 8, 7, 6, 5]);
        assert_eq!(ranks(&[[3, 3, -9]]).expect("legal"), [3]);
        assert_eq!(ranks(&[[0, 9, i32::MAX], [9, 1, i32::MIN]]).expect("legal"), [0, 9]);
        assert_eq!(
            ranks(&[[0, 10, 4], [9, -1, -6], [5, i32::MAX, i32::MAX]]).expect("legal"),
            [0, 4, 8, 9, 3, 5]
        );
        assert_eq!(ranks(&[]).expect("legal"), []);
    }

    #[test]
    fn a_range_outside_the_group_or_that_never_ends_is_refused() {
        let wrong = [
            (&[[0, 10, 1]][..], ErrorClass::Rank),
            (&[[-1, 3, 1]], ErrorClass::Rank),
            (&[[0, 12, 6]], ErrorClass::Rank),
            (&[[2, -5, -3]], ErrorClass::Rank),
            (&[[i32::MIN, i32::MAX, 1]], ErrorClass::Rank),
            (&[[0, 3, 0]], ErrorClass::Arg),
            (&[[3, 3, 0]], ErrorClass::Arg),
            (&[[5, 3, 1]], ErrorClass::Arg),
            (&[[3, 5, -1]], ErrorClass::Arg),
            (&[[0, 4, 2], [6, 3, -1]], ErrorClass::Rank),
            (&[[0, 9, 1], [0, 9, 1]], ErrorClass::Rank),
        ];
        for (ranges, class) in wrong {
            assert_eq!(ranks(ranges).expect_err("illegal").class(), class, "{ranges:?}");
        }
    }
}
