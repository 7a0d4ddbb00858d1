//! What the elementary actions cost: the whole model of a machine, from which costs of algorithms are made.
//!
//! A [`Machine`] is a few constants. Those of its `Default` were measured on a recent x86 server with two cores and
//! warm caches (`docs/performance.md`), but for what two cores cannot show, the readers of a line, and for the
//! fabric, which there was none of: those are figures of common hardware. They decide between algorithms, and so
//! only their ratios matter, to within a factor of about 1.5.
//!
//! The text form is a line `name = value` for each constant, in any order; `#` begins a comment, and what is not
//! named is as in `Default`. All ranks of a job must have the same, because they must choose alike.

use std::fmt::{Display, Write as _};
use std::str::FromStr;

use oxmpi_base::{Error, ErrorClass, Result};

/// A constant's range; what is outside would make sums of costs meaningless.
const LARGEST: f64 = 1e12;

macro_rules! machine {
    ($($name:ident: $kind:ty = $value:expr, $meaning:literal;)*) => {
        /// What the elementary actions cost on a machine.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Machine {
            $(#[doc = $meaning] pub $name: $kind,)*
        }

        impl Default for Machine {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }

        impl Machine {
            /// The names of all constants.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// Sets a constant; whether there is one of this name.
            fn set(&mut self, name: &str, value: &str) -> Result<bool> {
                match name {
                    $(stringify!($name) => self.$name = number(name, value)?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }

            /// The text from which [`parse`](Self::parse) makes the same, with what each constant means.
            pub fn to_text(&self) -> String {
                let mut text = String::new();
                $(write_constant(&mut text, $meaning, stringify!($name), &self.$name);)*
                text
            }
        }
    };
}

/// So many bytes come line by line, before a processor fetches ahead.
pub const FIRST_BYTES: u64 = 1 << 10;

machine! {
    cores: u32 = 0, "Cores that the ranks of a node share; 0: each has its own, or those that a job may use.";
    near_cores: u32 = 1, "Cores that are near each other, of consecutive ranks; with 1 all are far.";
    hop_near_ns: f64 = 60.0, "From a post until a waiting peer has seen it, where two cores share a cache.";
    hop_far_ns: f64 = 300.0, "The same where they do not.";
    hop_shared_ns: f64 = 1250.0, "From rank to rank of one core, which must change hands.";
    turn_bytes: u64 = 384 << 10, "What a rank touches in a turn, beside what it sends, receives or combines.";
    run_ns: f64 = 0.0, "Beginning and ending a run; with 0 it is in what posts and pulls cost.";
    call_ns: f64 = 0.0, "How much more a blocking call costs, which looks up what it is called with.";
    post_ns: f64 = 10.0, "Posting, apart from the copy.";
    pull_ns: f64 = 30.0, "Pulling what is there already, apart from the copy: a line crosses between cores.";
    reader_ns: f64 = 25.0, "How long a cache line is occupied by each of several cores that read it.";
    copy_byte_ns: f64 = 0.012, "Copying a byte of one's own to another place of one's own.";
    post_byte_ns: f64 = 0.012, "Copying a byte of one's own to a slot.";
    pull_byte_ns: f64 = 0.018, "Copying a byte out of a peer's slot.";
    reduce_byte_ns: f64 = 0.032, "Combining a byte of a peer's slot with one of one's own.";
    reader_byte_ns: f64 = 0.003, "How long a byte of a slot is occupied by each of several readers.";
    first_byte_ns: f64 = 0.0, "Posting or pulling each of the first KiB, in addition: line by line.";
    far_byte_ns: f64 = 0.0, "Pulling or combining a byte that comes from a core that is far, in addition.";
    cache_bytes: u64 = 16 << 20, "What the ranks of a core can touch and still find in its caches.";
    stream_byte_ns: f64 = 0.05, "Moving or combining a byte beyond that, in addition.";
    message_ns: f64 = 150.0, "A message inside a node through matching, apart from its hop and copies.";
    message_byte_ns: f64 = 0.035, "A byte of a message inside a node: into shared memory and out again.";
    net_latency_ns: f64 = 1500.0, "From node to node through the fabric, of the shortest message.";
    net_overhead_ns: f64 = 250.0, "What a message between nodes costs a rank's core, at either end.";
    net_gap_ns: f64 = 50.0, "How long a message occupies the fabric's port of its node, at either end.";
    net_byte_ns: f64 = 0.08, "How long each of its bytes does.";
}

impl Machine {
    /// Reads the text form.
    ///
    /// # Errors
    /// [`ErrorClass::Arg`] if a line is not of the form `name = value`, names an unknown constant (the text names
    /// the known ones) or one twice, or its value is no number from 0 to 10^12.
    pub fn parse(text: &str) -> Result<Self> {
        let mut machine = Self::default();
        let mut seen = Vec::new();
        for line in lines(text) {
            machine.read(line, &mut seen)?;
        }
        Ok(machine)
    }

    /// From a post of a rank until another one of its node has seen it; `one` and `other` are their places among the
    /// `ranks` ranks of the node.
    pub(crate) fn hop_ns(&self, one: u32, other: u32, ranks: u32) -> f64 {
        if one == other {
            0.0
        } else if self.ranks_of_core(ranks) > 1 {
            f64::from(self.ranks_of_core(ranks)) * self.handover_ns(ranks) // until all have had their turn
        } else {
            self.hop_of_cores_ns(one, other)
        }
    }

    /// The same where each of them has a core now.
    pub(crate) fn hop_of_cores_ns(&self, one: u32, other: u32) -> f64 {
        if self.are_far(one, other) { self.hop_far_ns } else { self.hop_near_ns }
    }

    /// From rank to rank of a core of a node with `ranks` ranks. Where these are so many that they touch more than the
    /// caches hold, who has a turn fetches what it needs anew.
    pub(crate) fn handover_ns(&self, ranks: u32) -> f64 {
        let touched = self.turn_bytes.saturating_mul(self.ranks_of_core(ranks).into());
        let missed = self.part_too_much(touched) * self.turn_bytes as f64;
        self.hop_shared_ns + self.stream_byte_ns * missed
    }

    /// Which part of so many bytes is more than the caches of a core hold.
    fn part_too_much(&self, touched: u64) -> f64 {
        touched.saturating_sub(self.cache_bytes) as f64 / touched.max(1) as f64
    }

    /// Which part of so many bytes, which so many ranks of a core go through again and again, its caches do not hold.
    /// Of one rank that is what is too much. Where several take turns, each drives out what comes next: first when they
    /// need most of the caches, and soon nothing is found.
    pub(crate) fn part_beyond(&self, touched: u64, ranks: u32) -> f64 {
        if ranks == 1 {
            return self.part_too_much(touched);
        }
        let most = self.cache_bytes / 4 * 3;
        (touched.saturating_sub(most) as f64 / most.max(1) as f64).min(1.0)
    }

    /// How many of the `ranks` ranks of a node take turns on a core.
    pub(crate) fn ranks_of_core(&self, ranks: u32) -> u32 {
        if self.cores == 0 { 1 } else { ranks.div_ceil(self.cores).max(1) }
    }

    /// The core of a place of a node: neighbours are on different ones.
    pub(crate) fn core_of(&self, place: u32) -> u32 {
        if self.cores == 0 { place } else { place % self.cores }
    }

    /// Whether the cores of two places of a node are far from each other.
    pub(crate) fn are_far(&self, one: u32, other: u32) -> bool {
        let near_cores = self.near_cores.max(1);
        self.core_of(one) / near_cores != self.core_of(other) / near_cores
    }

    /// The same of the two farthest ones of so many places.
    pub(crate) fn are_some_far(&self, places: u32) -> bool {
        let cores = if self.cores == 0 { places } else { places.min(self.cores) };
        self.are_far(0, cores.saturating_sub(1))
    }

    /// Reads a line of the text form, of which those of the names in `seen` have come before.
    fn read<'text>(&mut self, line: &'text str, seen: &mut Vec<&'text str>) -> Result<()> {
        let Some((name, value)) = line.split_once('=') else {
            return Err(wrong(format!("'{line}' is not of the form name = value")));
        };
        let (name, value) = (name.trim(), value.trim());
        if !self.set(name, value)? {
            let known = Self::NAMES.join(", ");
            return Err(wrong(format!("'{name}' is no constant of a machine; known are {known}")));
        }
        if seen.contains(&name) {
            return Err(wrong(format!("'{name}' is there twice, the second time as {value}")));
        }
        seen.push(name);
        Ok(())
    }
}

/// What the lines of a text say, without comments and empty lines.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let bare = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    bare.filter(|line| !line.is_empty())
}

fn write_constant(text: &mut String, meaning: &str, name: &str, value: &dyn Display) {
    writeln!(text, "# {meaning}\n{name} = {value}\n").expect("a string takes everything");
}

fn number<T: Constant>(name: &str, value: &str) -> Result<T> {
    let number = value.parse().ok().filter(|&number: &T| (0.0..=T::LARGEST).contains(&number.wide()));
    let (kind, largest) = (T::KIND, T::LARGEST);
    number.ok_or_else(|| wrong(format!("{name} = {value}: the value should be {kind} from 0 to {largest}")))
}

/// The type of a constant.
trait Constant: FromStr + Copy {
    const KIND: &str = "a whole number";
    const LARGEST: f64 = LARGEST;

    /// A value, to be judged.
    fn wide(self) -> f64;
}

impl Constant for f64 {
    const KIND: &str = "a number";

    fn wide(self) -> f64 {
        self
    }
}

impl Constant for u32 {
    const LARGEST: f64 = Self::MAX as f64;

    fn wide(self) -> f64 {
        self.into()
    }
}

impl Constant for u64 {
    fn wide(self) -> f64 {
        self as f64
    }
}

fn wrong(text: String) -> Error {
    Error::new(ErrorClass::Arg, text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A machine whose constants are `values`, in the order of names.
    fn machine_of(values: &[f64]) -> Machine {
        let names = Machine::NAMES.iter().zip(values);
        let line = |(name, value): (&&str, &f64)| {
            let is_whole = ["cores", "near_cores", "turn_bytes", "cache_bytes"].contains(name);
            if is_whole { format!("{name} = {}\n", *value as u32) } else { format!("{name} = {value}\n") }
        };
        Machine::parse(&names.map(line).collect::<String>()).expect("all are in range")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(0.0..1e9, Machine::NAMES.len())) {
            let machine = machine_of(&values);
            prop_assert_eq!(Machine::parse(&machine.to_text()).expect("it was written"), machine);
        }

        #[test]
        fn any_text_is_read_or_refused_with_a_sentence(text in "[a-z_0-9 =.#\n-]{0,80}") {
            if let Err(error) = Machine::parse(&text) {
                prop_assert!(!error.text().is_empty());
            }
        }
    }

    #[test]
    fn what_is_not_named_is_as_usual() {
        let machine = Machine::parse("# ours\n\n hop_far_ns = 200 # far\nnear_cores=8").expect("right");
        assert_eq!(machine, Machine { hop_far_ns: 200.0, near_cores: 8, ..Machine::default() });
        assert_eq!(Machine::parse("").expect("empty"), Machine::default());
        assert_eq!(Machine::parse(&Machine::default().to_text()).expect("written"), Machine::default());
    }

    #[test]
    fn turns_of_many_ranks_of_a_core_cost_more() {
        let machine = Machine { cores: 2, ..Machine::default() };
        let turns = [1, 8, 64, 256, 1000, 1_000_000].map(|ranks| machine.handover_ns(ranks));
        assert!(turns[..3].iter().all(|&turn| turn == machine.hop_shared_ns), "{turns:?}");
        assert!(turns[2..].is_sorted_by(|few, many| few < many), "{turns:?}");
        // All of it comes from beyond the caches in the end.
        let all = machine.hop_shared_ns + machine.turn_bytes as f64 * machine.stream_byte_ns;
        assert!((0.99..1.0).contains(&(turns[5] / all)), "{turns:?}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("hop_fra_ns = 200", "hop_far_ns"),
            ("hop_far_ns = 200\nhop_far_ns = 300", "twice"),
            ("hop_far_ns 200", "name = value"),
            ("hop_far_ns = NaN", "NaN"),
            ("hop_far_ns = -1", "-1"),
            ("post_ns = inf", "inf"),
            ("hop_far_ns = 1e13", "a number from 0 to 1000000000000"),
            ("cores = 1.5", "cores = 1.5: the value should be a whole number from 0 to 4294967295"),
            ("cores = 99999999999", "a whole number from 0 to 4294967295"),
            ("cache_bytes = 99999999999999", "a whole number from 0 to 1000000000000"),
        ] {
            let error = Machine::parse(text).expect_err("it is wrong");
            assert!(error.text().contains(named), "{text}: {}", error.text());
        }
    }
}
