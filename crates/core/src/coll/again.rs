//! Collectives that are called again with the same arguments.
//!
//! Programs repeat themselves: a loop reduces the same buffers in each turn. To check the arguments of a call, to make
//! an operation of them and to find its plan takes as long as to run a short one. So what has been made of arguments
//! that came twice is kept, and who calls so for the third time begins with the run. A call is none the less what it
//! was: it has a turn of its own on the communicator, and all that is compared among the ranks is compared.
//!
//! What arguments say must not change its meaning: so they are addresses, numbers and handles of what is predefined.
//! Cost: a hash and a comparison of [`Arguments`].

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
    pub(super) place: usize,
    /// The number of the call.
    number: u64,
}

/// The calls of a communicator.
#[derive(Debug)]
pub(super) struct Calls {
    places: [Option<Call>; PLACES],
    /// So many have been noted.
    noted: u64,
}

#[derive(Debug)]
struct Call {
    arguments: Arguments,
    number: u64,
    /// `None` if they have come once, or while somebody has it.
    known: Option<Box<Known>>,
}

const PLACES: usize = 16;

/// Where a call has its place.
#[inline]
fn place(arguments: &Arguments) -> usize {
    (arguments.hash() >> (u64::BITS - PLACES.ilog2())) as usize
}

impl Calls {
    pub(super) const NONE: Self = Self { places: [const { None }; PLACES], noted: 0 };

    /// What is known of a call.
    #[inline]
    pub(super) fn find(&mut self, arguments: &Arguments) -> Option<&mut Known> {
        let call = self.places[place(arguments)].as_mut();
        let known = call.filter(|call| call.arguments.are(arguments))?.known.as_mut()?;
        known.binding.renew();
        Some(known)
    }

    /// Takes out what was found at a place, for who goes on with it while others may call.
    #[inline]
    pub(super) fn take(&mut self, place: usize) -> Option<Box<Known>> {
        self.places[place].as_mut()?.known.take()
    }

    /// Notes a call of which nothing is known; whether it was noted before.
    pub(super) fn note(&mut self, arguments: &Arguments) -> bool {
        let place = &mut self.places[place(arguments)];
        if place.as_ref().is_some_and(|call| call.arguments.are(arguments)) {
            return true;
        }
        self.noted += 1;
        *place = Some(Call { arguments: *arguments, number: self.noted, known: None });
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
        let place = place(arguments);
        if let Some(call) = &mut self.places[place]
            && call.arguments.are(arguments)
        {
            let run = Run::new(&plan, lifetime);
            call.known = Some(Box::new(Known { binding, plan, run, place, number: call.number }));
        }
    }

    /// Takes back what was found, unless another call has taken its place.
    #[inline]
    pub(super) fn give_back(&mut self, known: Box<Known>) {
        if let Some(call) = &mut self.places[known.place]
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
