//! Collectives that are called again with the same arguments.
//!
//! Programs repeat themselves: a loop reduces the same buffers in each turn. To check the arguments of a call, to make
//! an operation of them and to find its plan takes as long as to run a short one. So what has been made of arguments
//! that came twice is kept, and who calls so for the third time begins with the run. A call is none the less what it
//! was: it has a turn of its own on the communicator, and all that is compared among the ranks is compared.
//!
//! What arguments say must not change its meaning: so they are addresses, numbers and handles of what is predefined.
//! Cost: a comparison of [`Arguments`] where calls follow each other as they did before, else a hash and another.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_engine::{Binding, Lifetime, Program, Run};
use oxmpi_mem::Arguments;

/// What becomes of a call with arguments that may have come before.
#[derive(Debug)]
pub(super) enum Again<T> {
    /// They have: it was done.
    Done(Result<T>),
    /// They have, and what is made of them now should be kept.
    Keep,
    /// They are new, or there are too many others.
    New,
}

/// What was made of the arguments of a call.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) binding: Binding,
    pub(super) plan: Arc<Program>,
    /// Begun by each of the calls.
    pub(super) run: Run,
    pub(super) place: Place,
    /// The number of the call.
    number: u64,
}

/// The calls of a communicator.
#[derive(Debug)]
pub(super) struct Calls {
    places: [Option<Call>; PLACES],
    /// So many have been noted.
    noted: u64,
    /// The place of the one that was found last.
    last: Place,
    /// By place: that of the call which came after it the last time.
    after: [Place; PLACES],
}

#[derive(Debug)]
struct Call {
    arguments: Arguments,
    number: u64,
    /// `None` if they have come once, or while somebody has it.
    known: Option<Box<Known>>,
}

const PLACES: usize = 32;
type Place = u8;

/// The two places that a call may have: one in the way of another need not be.
#[inline]
fn places(arguments: &Arguments) -> [Place; 2] {
    let place = (arguments.hash() >> (u64::BITS - PLACES.ilog2())) as Place;
    [place, place ^ 1]
}

impl Calls {
    pub(super) const NONE: Self =
        Self { places: [const { None }; PLACES], noted: 0, last: 0, after: [0; PLACES] };

    /// What is known of a call.
    #[inline]
    pub(super) fn find(&mut self, arguments: &Arguments) -> Option<&mut Known> {
        let expected = self.after[usize::from(self.last)];
        let place = if self.is_at(expected, arguments) { expected } else { self.look_for(arguments)? };
        self.last = place;
        let known = self.places[usize::from(place)].as_mut()?.known.as_mut()?;
        known.binding.renew();
        Some(known)
    }

    /// Where a call is that was noted, and did not come after the one before it the last time.
    fn look_for(&mut self, arguments: &Arguments) -> Option<Place> {
        let place = self.place_of(arguments)?;
        self.after[usize::from(self.last)] = place;
        Some(place)
    }

    /// Where a call that was noted has its place.
    fn place_of(&self, arguments: &Arguments) -> Option<Place> {
        places(arguments).into_iter().find(|&place| self.is_at(place, arguments))
    }

    #[inline]
    fn is_at(&self, place: Place, arguments: &Arguments) -> bool {
        self.places[usize::from(place)].as_ref().is_some_and(|call| call.arguments.are(arguments))
    }

    /// Takes out what was found at a place, for who goes on with it while others may call.
    #[inline]
    pub(super) fn take(&mut self, place: Place) -> Option<Box<Known>> {
        self.places[usize::from(place)].as_mut()?.known.take()
    }

    /// Notes a call of which nothing is known; whether it was noted before.
    pub(super) fn note(&mut self, arguments: &Arguments) -> bool {
        if self.place_of(arguments).is_some() {
            return true;
        }
        self.noted += 1;
        let places = places(arguments);
        let is_empty = |&place: &Place| self.places[usize::from(place)].is_none();
        // Now the lower one and now the upper: two calls that follow each other do not get into one place.
        let next = places[0] & !1 | (self.noted & 1) as Place;
        let place = places.into_iter().find(is_empty).unwrap_or(next);
        self.places[usize::from(place)] =
            Some(Call { arguments: *arguments, number: self.noted, known: None });
        false
    }

    /// Keeps what was made of a call that was noted.
    pub(super) fn keep(
        &mut self,
        arguments: &Arguments,
        binding: Binding,
        plan: Arc<Program>,
        lifetime: Lifetime,
    ) {
        if let Some(place) = self.place_of(arguments)
            && let Some(call) = &mut self.places[usize::from(place)]
        {
            let run = Run::new(&plan, lifetime);
            call.known = Some(Box::new(Known { binding, plan, run, place, number: call.number }));
        }
    }

    /// Takes back what was found, unless another call has taken its place.
    #[inline]
    pub(super) fn give_back(&mut self, known: Box<Known>) {
        if let Some(call) = &mut self.places[usize::from(known.place)]
            && call.number == known.number
        {
            call.known = Some(known);
        }
    }
}

impl<T> Again<T> {
    pub(super) fn of(is_second: bool) -> Self {
        if is_second { Self::Keep } else { Self::New }
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_base::Function;
    use oxmpi_datatype::Buffer;
    use oxmpi_engine::Call;
    use oxmpi_plan::Plan;

    use super::*;

    /// Calls that have the same two places.
    fn in_each_others_way<const N: usize>() -> [Arguments; N] {
        let set = |call: &Arguments| places(call).into_iter().min();
        let first = Arguments::of_function(1);
        let mut all = (1..).map(Arguments::of_function).filter(|call| set(call) == set(&first));
        std::array::from_fn(|_| all.next().expect("there are many"))
    }

    /// Calls like these, turn after turn; how often something was known.
    fn known_in(calls: &mut Calls, turn: &[Arguments], turns: usize) -> usize {
        let plan = || Plan { steps: Vec::new(), segments: 1, lines: Vec::new(), scratch_bytes: 0 };
        let program = || Arc::new(Program::new(plan(), Call::new(Function::BarrierInit)));
        let nothing = || Binding { send: Buffer::EMPTY, recv: Buffer::EMPTY, reducer: None, images: None };
        let mut known = 0;
        for arguments in turn.iter().cycle().take(turn.len() * turns) {
            if let Some(place) = calls.find(arguments).map(|known| known.place) {
                assert_eq!(calls.place_of(arguments), Some(place), "another call");
                known += 1;
            } else if calls.note(arguments) {
                calls.keep(arguments, nothing(), program(), Lifetime::Blocking);
            }
        }
        known
    }

    #[test]
    fn what_comes_for_the_third_time_is_known() {
        let call = [Arguments::of_function(1)];
        let mut calls = Calls::NONE;
        assert_eq!(known_in(&mut calls, &call, 5), 3);
    }

    #[test]
    fn two_calls_do_not_get_in_each_others_way() {
        let mut calls = Calls::NONE;
        assert_eq!(known_in(&mut calls, &in_each_others_way::<2>(), 10), 2 * 8);
    }

    #[test]
    fn two_calls_become_known_whatever_came_before() {
        let [one, other, third] = in_each_others_way();
        let mut calls = Calls::NONE;
        known_in(&mut calls, &[one, other, third], 100);
        for turn in [[other, third], [one, third], [one, other]] {
            assert!(known_in(&mut calls, &turn, 10) >= 12);
        }
    }
}
