//! What a rank believes to be doing in a run, in a word: so that ranks that do different things notice.
//!
//! All ranks of a collective pass arguments that fit each other. What follows from them alike on all ranks - which
//! collective it is, the root, the operation, the bytes - is packed into a word, which travels with everything that is
//! posted or sent. Who reads compares it with his own: one comparison; all else here is off the common path.
//!
//! | bits | what |
//! |---|---|
//! | 4 | how many runs the writer is ahead of those that it has completed, at most: in pairs, and many in eights |
//! | 14 | a hash of the calls before: who only wrote when ranks disagreed learns of it when he reads next |
//! | 46 | the call: collective and lifetime, root, operation, length of an element, bytes |
//!
//! A rank whose call has failed tells that in place of the call, and why, until its run is over: nothing that it posts
//! or sends is what it should be.
//!
//! Lengths up to 1 MiB are exact, longer ones rounded and hashed. In what the standard lets ranks say differently -
//! the lengths of a vector collective's blocks, the root and what it moves for a rank beside it - nothing is compared.
//!
//! MPI-5.0: Collective Communication, Correctness.

use std::sync::LazyLock;

use oxmpi_base::{Chapter, ErrorClass, Function};
use oxmpi_op::{CODE_BITS, Reducer};

use crate::lines::DEPTH;

/// What tells how many runs the writer is ahead of those that it has completed; less than [`DEPTH`].
#[inline]
pub(crate) const fn lag(ahead: u64) -> u64 {
    if ahead <= 2 * PAIRS { ahead.div_ceil(2) } else { PAIRS + (ahead - 2 * PAIRS).div_ceil(MANY) }
}

/// How many runs the writer of a word is ahead at most: one less where that is told in pairs, up to seven beyond.
#[inline]
pub(crate) const fn most_ahead(word: u64) -> u64 {
    let lag = word & LAG;
    if lag <= PAIRS { 2 * lag } else { 2 * PAIRS + (lag - PAIRS) * MANY }
}

/// A collective, as its ranks must call it alike. The operation of a reduction, and the lifetime, come with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    bits: u64,
    /// The bits that all ranks know.
    known: u64,
}

/// The lifetime of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// The call ends with the operation.
    Blocking,
    /// It is begun once.
    Nonblocking,
    /// It is started at will, on a channel of its own.
    Persistent,
}

/// What is called in a run, with all that is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Called(u64);

/// A part of the word.
struct Field {
    at: u32,
    bits: u32,
}

pub(crate) const LAG: u64 = (1 << 4) - 1;
/// Lags up to this one tell of pairs, and each beyond it of [`MANY`] more.
const PAIRS: u64 = 8;
const MANY: u64 = 8;
const _: () = assert!(
    DEPTH as u64 <= most_ahead(LAG) + 1,
    "who is ahead by as many runs as can be under way can say so"
);
const HISTORY: Field = Field { at: 4, bits: 14 };
const KIND: Field = Field { at: 18, bits: 5 };
const LIFETIME: Field = Field { at: 23, bits: 2 };
const ROOT: Field = Field { at: 25, bits: 10 };
const OPERATION: Field = Field { at: 35, bits: CODE_BITS };
const UNIT: Field = Field { at: 40, bits: 3 };
const BYTES: Field = Field { at: 43, bits: 21 };

const NO_ROOT: u64 = ROOT.most();
/// The root, and all that it says, are known to others.
const BESIDE_ROOT: u64 = ROOT.most() - 1;
const LARGEST_ROOT: u64 = ROOT.most() - 2;

/// Each rank has lengths of its own.
const NO_BYTES: u64 = BYTES.most();
/// Lengths from here on are rounded: to a power of two, in parts of `ROUNDED` of it, and a hash.
const LONG: u64 = 1 << (BYTES.bits - 1);
const ROUNDED: u64 = 1 << 7;
const LENGTH_HASH: u64 = 1 << 8;
const LARGEST_POWER: u32 = LONG.ilog2() + 30;

/// What sets something up, by number, behind all collectives.
const CONSTRUCTOR: u64 = KIND.most() - 1;
const PREPARATION: u64 = KIND.most();
/// What is told instead of a call by who cannot do its part. Why, stands where lengths do. If the reason is that two
/// ranks call different things, it is what the two calls differ in: whoever calls one of them finds the other.
const FAILED: u64 = KIND.most() - 2;
/// Among what stands in place of the calls before: the kinds differ so, and a check.
const DIFFER: u64 = 1 << (HISTORY.bits - 1);
const CHECK_BITS: u32 = HISTORY.bits - 1 - KIND.bits;

/// The persistent forms of all collectives, which stand for all their forms: their numbers are 1 and up.
static COLLECTIVES: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let is_persistent = |function: &Function| {
        matches!(function.chapter(), Chapter::CollectivePersistent | Chapter::NeighborhoodPersistent)
            && function.name().ends_with("_init")
    };
    Function::all().filter(is_persistent).collect()
});

impl Field {
    const fn most(&self) -> u64 {
        (1 << self.bits) - 1
    }

    const fn mask(&self) -> u64 {
        self.most() << self.at
    }

    const fn of(&self, word: u64) -> u64 {
        word >> self.at & self.most()
    }

    const fn put(&self, word: u64, value: u64) -> u64 {
        word & !self.mask() | value << self.at
    }
}

impl Call {
    /// What is said of runs of which nothing is known.
    pub const UNKNOWN: Self = Self { bits: 0, known: 0 };

    /// A constructor of communicators.
    pub const CONSTRUCTOR: Self = Self::of_kind(CONSTRUCTOR).known_in_part();

    /// The initialisation of a persistent collective. What is run on the way may combine something: by which operation,
    /// a rank beside the root does not know.
    pub const PREPARATION: Self = Self::of_kind(PREPARATION).known_in_part();

    /// A collective, by its persistent form, without root and lengths.
    ///
    /// # Panics
    /// If there is no such collective.
    pub fn new(function: Function) -> Self {
        let number = COLLECTIVES.iter().position(|known| *known == function);
        let kind = number.expect("a persistent collective") as u64 + 1;
        assert!(kind < CONSTRUCTOR, "there are numbers for all collectives");
        Self::of_kind(kind)
    }

    const fn of_kind(kind: u64) -> Self {
        Self { bits: BYTES.put(ROOT.put(KIND.put(0, kind), NO_ROOT), NO_BYTES), known: u64::MAX }
    }

    /// With a root.
    #[must_use]
    pub fn rooted(self, root: u32) -> Self {
        Self { bits: ROOT.put(self.bits, u64::from(root).min(LARGEST_ROOT)), ..self }
    }

    /// With a length.
    #[must_use]
    pub fn of_bytes(self, bytes: u64) -> Self {
        let code = if bytes < LONG { bytes } else { rounded(bytes) };
        Self { bits: BYTES.put(self.bits, code), ..self }
    }

    /// With the lengths of what each of two ranks sends the other, which are the other way round there.
    #[must_use]
    pub fn exchanging(self, sent: u64, received: u64) -> Self {
        if sent == received {
            return self.of_bytes(sent);
        }
        let both = hashed(hashed(sent.max(received)) ^ sent.min(received)) >> (64 - BYTES.bits);
        let bits = BYTES.put(self.bits, both.min(NO_BYTES - 1));
        Self { bits: UNIT.put(bits, TWO_LENGTHS), ..self }
    }

    /// With a length in elements of so many bytes, which are combined.
    #[must_use]
    pub fn in_units(self, unit: u32) -> Self {
        let code =
            if unit.is_power_of_two() && unit <= 16 { u64::from(unit.ilog2()) + 1 } else { OTHER_UNIT };
        Self { bits: UNIT.put(self.bits, code), ..self }
    }

    /// As one of which all ranks know what it is, and not the arguments: of a collective between two groups with a
    /// root, or what sets something up.
    #[must_use]
    pub const fn known_in_part(self) -> Self {
        Self { known: KIND.mask() | LIFETIME.mask(), ..self }
    }

    /// As a rank that is beside the root, and knows of it no more.
    #[must_use]
    pub fn beside_root(self) -> Self {
        Self { bits: ROOT.put(self.bits & KIND.mask(), BESIDE_ROOT), ..self.known_in_part() }
    }

    /// Whose data goes alike: the number of the collective.
    pub(crate) fn kind(&self) -> u8 {
        KIND.of(self.bits) as u8
    }

    /// In a run.
    #[inline]
    pub fn begun(&self, lifetime: Lifetime, reducer: Option<&Reducer>) -> Called {
        let operation = reducer.map_or(0, Reducer::code);
        Called(self.bits | (lifetime as u64) << LIFETIME.at | u64::from(operation) << OPERATION.at)
    }

    /// What `called` adds to the hash of the calls so far.
    #[inline]
    pub(crate) fn hashed(&self, called: Called, before: u64) -> u64 {
        let hash = hashed(called.0 & self.known) >> (64 - HISTORY.bits);
        // What is long ago is shifted out.
        (before << 1 ^ hash) & HISTORY.most()
    }
}

const OTHER_UNIT: u64 = UNIT.most() - 1;
/// Where an element's length stands: what stands for bytes is a hash of two lengths.
const TWO_LENGTHS: u64 = UNIT.most();

impl Called {
    /// The word of a rank whose call has failed, so that nothing that it tells is what it should be: why, or because of
    /// which two calls.
    pub(crate) fn failed(why: ErrorClass, both: Option<[Self; 2]>) -> u64 {
        let Some([one, other]) = both else { return BYTES.put(KIND.put(0, FAILED), why as u64) };
        let difference = one.0 ^ other.0;
        let told = DIFFER | one.checked_with(other) << KIND.bits | KIND.of(difference);
        HISTORY.put(KIND.put(difference, FAILED), told)
    }

    /// What a word says of why a call has failed, if it [has](Self::failed).
    pub(crate) fn failure(word: u64) -> Option<ErrorClass> {
        if KIND.of(word) != FAILED {
            return None;
        }
        let class = match HISTORY.of(word) {
            0 => ErrorClass::from_code(BYTES.of(word) as i32),
            _ => None,
        };
        Some(class.unwrap_or(ErrorClass::Other))
    }

    /// The other one of the two calls because of which a call [has failed](Self::failed), if this is the one.
    pub(crate) fn differs_from(self, word: u64) -> Option<Self> {
        let told = HISTORY.of(word);
        let other = Self::of_word(KIND.put(word, told & KIND.most()) ^ self.0);
        let is_told = KIND.of(word) == FAILED && told & DIFFER != 0;
        (is_told && told & !DIFFER == self.checked_with(other) << KIND.bits | told & KIND.most())
            .then_some(other)
    }

    /// A number that two calls have, and hardly others that differ in the same: with what two differ in, the lower one
    /// says which they are.
    fn checked_with(self, other: Self) -> u64 {
        hashed(self.0.min(other.0)) >> (64 - CHECK_BITS)
    }

    /// The word that travels, but for the lag.
    #[inline]
    pub(crate) fn word(self, history: u64) -> u64 {
        self.0 | history << HISTORY.at
    }

    /// As a number, for others to read.
    pub fn to_word(self) -> u64 {
        self.0
    }

    /// What is called where this word came from.
    pub fn of_word(word: u64) -> Self {
        Self(word & !(HISTORY.mask() | LAG))
    }

    /// The word to remember run `number` by.
    #[inline]
    pub(crate) fn noted(self, number: u64) -> u64 {
        self.0 | number & RECENT
    }

    /// What was noted for run `number`, if it is still there.
    pub(crate) fn of_note(note: u64, number: u64) -> Option<Self> {
        (note != 0 && note & RECENT == number & RECENT).then(|| Self::of_word(note))
    }

    /// Whether this sets something up that several ranks must have, or none.
    pub(crate) fn sets_up(self) -> bool {
        KIND.of(self.0) >= CONSTRUCTOR
    }

    /// In what two ranks differ that must not.
    pub fn conflict(self, other: Self) -> Option<ErrorClass> {
        let differs = |field: Field| field.of(self.0) != field.of(other.0);
        // Who has no neighbours does not know how long the blocks of others are.
        let know_lengths = [self, other].iter().all(|called| BYTES.of(called.0) != NO_BYTES);
        if [self, other].iter().any(|called| KIND.of(called.0) == 0) {
            return None;
        }
        if differs(KIND) || differs(LIFETIME) {
            return Some(ErrorClass::Other);
        }
        if self.sets_up() || [self, other].map(|called| ROOT.of(called.0)).contains(&BESIDE_ROOT) {
            return None;
        }
        let rest = [
            (ROOT, ErrorClass::Root),
            (OPERATION, ErrorClass::Op),
            (BYTES, ErrorClass::Truncate),
            (UNIT, ErrorClass::Type),
        ];
        let mut rest = rest.into_iter().filter(|(field, _)| know_lengths || field.at != BYTES.at);
        rest.find_map(|(field, class)| differs(field).then_some(class))
    }

    /// As a program writes it.
    pub fn describe(self) -> String {
        let function = match KIND.of(self.0) {
            CONSTRUCTOR => return "a constructor of communicators".to_owned(),
            PREPARATION => return "the initialisation of a persistent collective".to_owned(),
            kind => (kind as usize).checked_sub(1).and_then(|index| COLLECTIVES.get(index)),
        };
        let name = function.and_then(|function| function.name().strip_prefix("MPI_")?.strip_suffix("_init"));
        let Some(name) = name else { return "a collective".to_owned() };
        let name = match LIFETIME.of(self.0) {
            0 => format!("MPI_{name}"),
            1 => format!("MPI_I{}", name.to_ascii_lowercase()),
            _ => format!("MPI_{name}_init"),
        };
        let arguments = self.arguments();
        if arguments.is_empty() { name } else { format!("{name} ({})", arguments.join(", ")) }
    }

    fn arguments(self) -> Vec<String> {
        let mut arguments = Vec::new();
        match BYTES.of(self.0) {
            NO_BYTES => {}
            _ if UNIT.of(self.0) == TWO_LENGTHS => arguments.push("longer one way than the other".to_owned()),
            long @ LONG.. => arguments.push(format!("about {:.2} MiB", about(long) / f64::from(1 << 20))),
            bytes => match UNIT.of(self.0) {
                0 => arguments.push(format!("{bytes} bytes")),
                OTHER_UNIT => arguments.push(format!("{bytes} bytes in long elements")),
                unit => arguments.push(format!("{bytes} bytes in elements of {}", 1 << (unit - 1))),
            },
        }
        if OPERATION.of(self.0) != 0 {
            arguments.push(Reducer::name_of(OPERATION.of(self.0) as u8).to_owned());
        }
        match ROOT.of(self.0) {
            NO_ROOT => {}
            BESIDE_ROOT => arguments.push("root MPI_PROC_NULL".to_owned()),
            LARGEST_ROOT => arguments.push(format!("root {LARGEST_ROOT} or above")),
            root => arguments.push(format!("root {root}")),
        }
        arguments
    }
}

/// The code of a long length.
fn rounded(bytes: u64) -> u64 {
    let power = bytes.ilog2().min(LARGEST_POWER);
    let part = (bytes >> (power - ROUNDED.ilog2())).min(2 * ROUNDED - 1) - ROUNDED;
    let hash = hashed(bytes) >> (64 - LENGTH_HASH.ilog2());
    let rounded = u64::from(power - LONG.ilog2()) * ROUNDED + part;
    LONG + rounded * LENGTH_HASH + hash
}

/// The length of a code, rounded.
fn about(code: u64) -> f64 {
    let rest = (code & (LONG - 1)) / LENGTH_HASH;
    let (power, part) = (rest / ROUNDED, rest % ROUNDED);
    (LONG << power) as f64 * (1.0 + part as f64 / ROUNDED as f64)
}

#[inline]
fn hashed(word: u64) -> u64 {
    (word ^ word >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The bits of a run's number that are noted beside a call.
const RECENT: u64 = (1 << KIND.at) - 1;

#[cfg(test)]
mod tests {
    use oxmpi_base::{BasicType, ReduceOp};

    use super::*;

    fn bcast(root: u32, bytes: u64) -> Called {
        Call::new(Function::BcastInit).rooted(root).of_bytes(bytes).begun(Lifetime::Blocking, None)
    }

    #[test]
    fn nobody_seems_to_have_completed_more_than_he_has() {
        for ahead in 0..DEPTH as u64 {
            let told = most_ahead(lag(ahead) | !LAG);
            let too_many = if ahead <= 2 * PAIRS { 2 } else { MANY };
            assert!(lag(ahead) <= LAG && (ahead..ahead + too_many).contains(&told), "{ahead}: {told}");
        }
    }

    #[test]
    fn who_calls_one_of_two_things_is_told_of_the_other() {
        let barrier = Call::new(Function::BarrierInit).begun(Lifetime::Blocking, None);
        let calls = [barrier, bcast(0, 8), bcast(1, 8), bcast(0, 9), bcast(0, u64::MAX)];
        for one in calls {
            for other in calls.into_iter().filter(|other| *other != one) {
                let word = Called::failed(ErrorClass::Root, Some([one, other])) | LAG;
                assert_eq!(Called::failure(word), Some(ErrorClass::Other));
                assert_eq!((one.differs_from(word), other.differs_from(word)), (Some(other), Some(one)));
                let thirds = (10..4106).map(|bytes| bcast(2, bytes));
                let taken_in = thirds.filter(|third| third.differs_from(word).is_some()).count();
                assert!(taken_in <= 32, "{taken_in} of 4,096, where one in 256 is to be expected");
            }
        }
        let word = Called::failed(ErrorClass::Truncate, None) | LAG;
        assert_eq!((Called::failure(word), barrier.differs_from(word)), (Some(ErrorClass::Truncate), None));
        assert_eq!(Called::failure(barrier.word(HISTORY.most())), None);
    }

    #[test]
    fn who_exchanges_with_another_must_send_what_the_other_expects() {
        let call = |sent, received| {
            let call = Call::new(Function::NeighborAlltoallInit).exchanging(sent, received);
            call.begun(Lifetime::Blocking, None)
        };
        let truncate = Some(ErrorClass::Truncate);
        for [sent, received] in [[4, 8], [0, 1], [1 << 30, 12], [7, 1 << 40]] {
            assert_eq!(call(sent, received).conflict(call(received, sent)), None);
            for [back, forth] in
                [[sent, sent], [received, received], [received + 1, sent + 1], [received, sent + 2]]
            {
                assert_eq!(call(sent, received).conflict(call(back, forth)), truncate, "{back} {forth}");
            }
        }
        assert!(call(4, 8).describe().ends_with("(longer one way than the other)"));
        assert_eq!(call(4, 4).describe(), "MPI_Neighbor_alltoall (4 bytes)");
    }

    #[test]
    fn a_difference_has_the_class_of_the_argument() {
        let barrier = Call::new(Function::BarrierInit).begun(Lifetime::Blocking, None);
        let nonblocking = Call::new(Function::BarrierInit).begun(Lifetime::Nonblocking, None);
        assert_eq!(bcast(0, 8).conflict(bcast(0, 8)), None);
        assert_eq!(bcast(0, 8).conflict(barrier), Some(ErrorClass::Other));
        assert_eq!(barrier.conflict(nonblocking), Some(ErrorClass::Other));
        assert_eq!(bcast(0, 8).conflict(bcast(1, 8)), Some(ErrorClass::Root));
        assert_eq!(bcast(0, 8).conflict(bcast(0, 4)), Some(ErrorClass::Truncate));
        for (one, other) in [(1 << 40, 1 << 41), (3 << 20, (3 << 20) + 8), (u64::MAX, 1 << 63)] {
            assert_eq!(bcast(0, one).conflict(bcast(0, other)), Some(ErrorClass::Truncate));
        }
        assert_eq!(bcast(0, 3 << 20).describe(), "MPI_Bcast (about 3.00 MiB, root 0)");
        let reduce = |unit| {
            Call::new(Function::AllreduceInit).of_bytes(24).in_units(unit).begun(Lifetime::Blocking, None)
        };
        assert_eq!(reduce(8).conflict(reduce(4)), Some(ErrorClass::Type));
    }

    #[test]
    fn who_is_beside_the_root_agrees_with_all_who_call_the_same() {
        let beside = Call::new(Function::BcastInit).beside_root();
        let root = Call::new(Function::BcastInit).rooted(3).of_bytes(100).known_in_part();
        let [first, second] = [beside, root].map(|call| call.begun(Lifetime::Blocking, None));
        assert_eq!(first.conflict(second), None);
        assert_eq!(second.conflict(first), None);
        assert_eq!(beside.hashed(first, 7), root.hashed(second, 7));
    }

    #[test]
    fn who_has_no_neighbours_agrees_with_those_who_have_blocks_of_any_length() {
        let alone = Call::new(Function::NeighborAlltoallInit).known_in_part();
        let [none, short, long] = [alone, alone.of_bytes(8), alone.of_bytes(1 << 20)]
            .map(|call| call.begun(Lifetime::Persistent, None));
        assert_eq!([none.conflict(short), long.conflict(none)], [None, None]);
        assert_eq!(short.conflict(long), Some(ErrorClass::Truncate));
    }

    #[test]
    fn collectives_are_told_apart_not_their_roots() {
        let [bcast, gather] = [Function::BcastInit, Function::GatherInit].map(Call::new);
        assert_ne!(bcast.kind(), gather.kind());
        assert_eq!(bcast.rooted(0).kind(), bcast.rooted(1).kind());
    }

    #[test]
    fn what_is_combined_on_the_way_is_no_part_of_a_preparation() {
        let sum = Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("it is defined");
        let call = Call::PREPARATION;
        let [first, second] = [None, Some(&sum)].map(|reducer| call.begun(Lifetime::Blocking, reducer));
        assert_eq!(first.conflict(second), None);
        assert_eq!(call.hashed(first, 7), call.hashed(second, 7));
        let constructor = Call::CONSTRUCTOR.begun(Lifetime::Blocking, None);
        assert_eq!(first.conflict(constructor), Some(ErrorClass::Other));
    }

    #[test]
    fn what_is_described_is_what_was_called() {
        assert_eq!(bcast(2, 100).describe(), "MPI_Bcast (100 bytes, root 2)");
        assert_eq!(bcast(9999, 1 << 30).describe(), "MPI_Bcast (about 1024.00 MiB, root 1021 or above)");
        assert_eq!(
            Call::new(Function::BarrierInit).begun(Lifetime::Nonblocking, None).describe(),
            "MPI_Ibarrier"
        );
        assert_eq!(
            Call::new(Function::AlltoallvInit).begun(Lifetime::Persistent, None).describe(),
            "MPI_Alltoallv_init"
        );
        let constructor = Call::CONSTRUCTOR.begun(Lifetime::Nonblocking, None);
        assert!(constructor.sets_up() && !bcast(0, 8).sets_up());
        assert_eq!(constructor.describe(), "a constructor of communicators");
    }

    #[test]
    fn a_note_tells_of_its_run_alone() {
        let noted = bcast(1, 8).noted(20);
        assert_eq!(Called::of_note(noted, 20), Some(bcast(1, 8)));
        assert_eq!(Called::of_note(noted, 36), None);
        assert_eq!(Called::of_note(0, 0), None);
    }

    #[test]
    fn calls_before_are_told_apart_for_a_while() {
        let call = Call::new(Function::BcastInit).rooted(0).of_bytes(8);
        let same = call.begun(Lifetime::Blocking, None);
        let after = |first: Called| (0..3).fold(call.hashed(first, 0), |hash, _| call.hashed(same, hash));
        assert_ne!(after(bcast(1, 8)), after(same));
        assert_ne!(after(bcast(0, 4)), after(same));
    }
}
