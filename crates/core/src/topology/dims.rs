//! Balanced grids: `MPI_Dims_create`.
//!
//! Of all ways to write the number of nodes as a product, the one is taken whose largest and smallest factor
//! differ least; of several such, the one whose smallest factor is largest, then its second smallest, and so on. The
//! search goes over divisors only, and leaves whatever can no longer be better than what it has found.
//! MPI-5.0: Virtual Topologies for MPI Processes, Cartesian Convenience Function.

use oxmpi_base::{Error, ErrorClass, Result};

/// The dimensions of a balanced grid of `nodes` places: those in `dims` that are not 0 stay, the others are found,
/// and do not increase.
///
/// # Errors
/// `Arg` if `nodes` is not positive; `Dims` if a dimension is negative, or those that stay do not divide `nodes`.
pub fn balanced_dims(nodes: i32, dims: &[i32]) -> Result<Vec<i32>> {
    let count = u32::try_from(nodes).ok().filter(|&count| count > 0);
    let count = count.ok_or_else(|| Error::new(ErrorClass::Arg, format!("nnodes is {nodes}")))?;
    if let Some(index) = dims.iter().position(|&dim| dim < 0) {
        return Err(Error::new(ErrorClass::Dims, format!("dims[{index}] is {}", dims[index])));
    }
    let fixed = dims.iter().filter(|&&dim| dim != 0);
    let fixed = fixed.fold(1_u64, |product, &dim| product.saturating_mul(dim as u64));
    let free = dims.iter().filter(|&&dim| dim == 0).count();
    let rest = u64::from(count) / fixed;
    if rest * fixed != u64::from(count) || (free == 0 && rest != 1) {
        let text =
            format!("nnodes is {nodes}, which do not fill a grid whose given dims have {fixed} places");
        return Err(Error::new(ErrorClass::Dims, text));
    }
    let mut found = factors(rest as u32, free).into_iter().map(u32::cast_signed);
    let filled = dims.iter().map(|&dim| match dim {
        0 => found.next().expect("a factor for each free dimension"),
        dim => dim,
    });
    Ok(filled.collect())
}

/// `count` as a product of so many factors that do not increase, as equal as possible.
fn factors(count: u32, parts: usize) -> Vec<u32> {
    if parts == 0 {
        return Vec::new();
    }
    let mut best = vec![1; parts];
    best[0] = count;
    let divisors = divisors(count);
    let primes = divisors.iter().copied().filter(|&divisor| divisor > 1 && is_prime(divisor)).collect();
    let mut search = Search { divisors, primes, chosen: Vec::with_capacity(parts), best };
    search.choose(count, parts);
    search.best
}

/// All products found so far, as one path through the divisors.
struct Search {
    /// Of the whole product, ascending.
    divisors: Vec<u32>,
    /// Those of them that are prime.
    primes: Vec<u32>,
    /// Factors that do not increase.
    chosen: Vec<u32>,
    /// The best complete choice.
    best: Vec<u32>,
}

impl Search {
    /// Continues the chosen factors with all choices of `parts` more whose product is `rest`.
    fn choose(&mut self, rest: u32, parts: usize) {
        let limit = self.chosen.last().copied().unwrap_or(u32::MAX);
        // What is left of 1 is 1 in every dimension, of which there may be many.
        if parts == 1 || rest == 1 {
            if rest <= limit {
                let before = self.chosen.len();
                self.chosen.push(rest);
                self.chosen.resize(before + parts, 1);
                if is_better(&self.chosen, &self.best) {
                    self.best.clone_from(&self.chosen);
                }
                self.chosen.truncate(before);
            }
            return;
        }
        // The largest factor is not below the mean, and not below the largest prime.
        let prime = self.primes.iter().rev().copied().find(|&prime| rest.is_multiple_of(prime)).unwrap_or(1);
        for index in 0..self.divisors.len() {
            let factor = self.divisors[index];
            if factor > limit {
                break;
            }
            if factor < prime || !rest.is_multiple_of(factor) || power(factor, parts) < u64::from(rest) {
                continue;
            }
            self.chosen.push(factor);
            if self.can_improve(rest / factor, parts - 1) {
                self.choose(rest / factor, parts - 1);
            }
            self.chosen.pop();
        }
    }

    /// Whether `parts` more factors with the product `rest` can all be so large that the choice is the best.
    fn can_improve(&self, rest: u32, parts: usize) -> bool {
        let first = self.chosen[0];
        // Of equal spreads, one that begins with less also ends with less.
        let allowed = spread(&self.best).checked_sub(u32::from(first < self.best[0]));
        allowed.is_some_and(|allowed| power(first.saturating_sub(allowed), parts) <= u64::from(rest))
    }
}

/// Whether these factors, which do not increase, are more balanced than others.
fn is_better(factors: &[u32], others: &[u32]) -> bool {
    let tails = factors.iter().rev().cmp(others.iter().rev());
    spread(factors).cmp(&spread(others)).then(tails.reverse()).is_lt()
}

/// How much the largest and the smallest of factors that do not increase differ.
fn spread(factors: &[u32]) -> u32 {
    factors[0] - factors[factors.len() - 1]
}

fn power(base: u32, exponent: usize) -> u64 {
    u64::from(base).saturating_pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// The divisors, ascending.
fn divisors(count: u32) -> Vec<u32> {
    let up_to_root = (1..).take_while(|&divisor| power(divisor, 2) <= u64::from(count));
    let small: Vec<u32> = up_to_root.filter(|&divisor| count.is_multiple_of(divisor)).collect();
    let large = small.iter().rev().map(|divisor| count / divisor);
    let large: Vec<u32> = large.filter(|large| !small.contains(large)).collect();
    [small, large].concat()
}

fn is_prime(number: u32) -> bool {
    (2..)
        .take_while(|&divisor| power(divisor, 2) <= u64::from(number))
        .all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(nodes: i32, dims: &[i32]) -> Vec<i32> {
        balanced_dims(nodes, dims).expect("legal")
    }

    /// Every product of `parts` factors that do not increase.
    fn all(count: u32, parts: usize, limit: u32) -> Vec<Vec<u32>> {
        if parts == 1 {
            return if count <= limit { vec![vec![count]] } else { Vec::new() };
        }
        let first = (1..=count.min(limit)).filter(|&factor| count.is_multiple_of(factor));
        let with = |factor: u32| {
            let others = all(count / factor, parts - 1, factor).into_iter();
            others.map(move |others| [vec![factor], others].concat())
        };
        first.flat_map(with).collect()
    }

    #[test]
    fn no_product_is_more_balanced() {
        for count in 1..=360 {
            for parts in 1..=4 {
                let found = factors(count, parts);
                let better = all(count, parts, count).into_iter().find(|other| is_better(other, &found));
                assert_eq!(better, None, "{count} as {parts}: {found:?}");
                assert_eq!(found.iter().product::<u32>(), count);
                assert!(found.is_sorted_by(|one, two| one >= two), "{found:?}");
            }
        }
    }

    #[test]
    fn the_examples_of_the_standard_come_out() {
        assert_eq!(dims(6, &[0, 0]), [3, 2]);
        assert_eq!(dims(7, &[0, 0]), [7, 1]);
        assert_eq!(dims(6, &[0, 3, 0]), [2, 3, 1]);
        assert_eq!(balanced_dims(7, &[0, 3, 0]).expect_err("not a multiple").class(), ErrorClass::Dims);
    }

    #[test]
    fn of_equally_spread_factors_the_smaller_ones_are_as_large_as_can_be() {
        assert_eq!(dims(5040, &[0; 3]), [21, 16, 15], "and not 20, 18, 14");
        assert_eq!(dims(98784, &[0; 5]), [14, 14, 9, 8, 7], "and not 14, 12, 12, 7, 7");
    }

    #[test]
    fn large_and_awkward_numbers_are_done_at_once() {
        assert_eq!(dims(1_000_000_000, &[0; 3]), [1000; 3]);
        assert_eq!(dims(i32::MAX, &[0; 3]), [i32::MAX, 1, 1]);
        assert_eq!(dims(1 << 30, &[0; 40])[28..32], [2, 2, 1, 1]);
        assert_eq!(dims(6, &[0; 200_000])[..4], [3, 2, 1, 1]);
        assert_eq!(dims(1, &[0; 200_000]), [1; 200_000]);
        for parts in 1..32 {
            // The number below 2^31 with the most divisors.
            let found = dims(2_095_133_040, &vec![0; parts]);
            assert_eq!(found.iter().map(|&dim| i64::from(dim)).product::<i64>(), 2_095_133_040);
        }
    }

    #[test]
    fn given_dimensions_stay_and_must_divide() {
        assert_eq!(dims(24, &[0, 2, 0]), [4, 2, 3]);
        assert_eq!(dims(24, &[2, 12]), [2, 12]);
        assert_eq!(dims(1, &[]), []);
        for (nodes, given) in [(4, &[-1, 0][..]), (4, &[3, 0]), (4, &[2, 1]), (4, &[]), (4, &[i32::MAX; 9])] {
            assert_eq!(balanced_dims(nodes, given).expect_err("no grid").class(), ErrorClass::Dims);
        }
        for nodes in [0, -4] {
            assert_eq!(balanced_dims(nodes, &[0]).expect_err("no nodes").class(), ErrorClass::Arg);
        }
    }
}
