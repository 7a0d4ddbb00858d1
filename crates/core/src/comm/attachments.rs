//! What a program attaches to communicators: a value of each type.
//!
//! It is taken off when the communicator is freed, which the communicator itself may outlive, and is dropped where the
//! program may call: its destructor does as it likes. So nothing is attached from then on.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching.

use std::any::{Any, TypeId};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use super::Communicator;

/// What is attached to a communicator.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// What is attached to one communicator.
pub(super) type Values = Vec<(TypeId, Attachment)>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Attachments(Mutex<State>);

#[derive(Debug)]
enum State {
    Freed,
    Living(Values),
}

impl Default for State {
    fn default() -> Self {
        Self::Living(Values::new())
    }
}

impl Communicator {
    /// Attaches a value, in place of what was attached of its type, which is the result. Duplicates have it, too. Where
    /// the communicator is freed already the value comes back.
    pub fn attach(&self, type_id: TypeId, value: Attachment) -> Option<Attachment> {
        self.attachments.change(|state| match state {
            State::Living(all) => match find(all, type_id) {
                Some(place) => Some(mem::replace(&mut all[place].1, value)),
                None => {
                    all.push((type_id, value));
                    None
                }
            },
            State::Freed => Some(value),
        })
    }

    /// What is attached of a type.
    pub fn attached(&self, type_id: TypeId) -> Option<Attachment> {
        self.attachments.change(|state| {
            let all = state.living()?;
            find(all, type_id).map(|place| Arc::clone(&all[place].1))
        })
    }

    /// Takes off what is attached of a type.
    pub fn detach(&self, type_id: TypeId) -> Option<Attachment> {
        self.attachments.change(|state| {
            let all = state.living()?;
            find(all, type_id).map(|place| all.remove(place).1)
        })
    }

    /// Takes off all that is attached, for who is about to free the communicator: to be dropped by who is not inside a
    /// call.
    #[must_use = "it is dropped where its destructors may call"]
    pub fn detach_all(&self) -> Vec<Attachment> {
        match self.attachments.change(|state| mem::replace(state, State::Freed)) {
            State::Living(all) => all.into_iter().map(|(_, value)| value).collect(),
            State::Freed => Vec::new(),
        }
    }

    /// What a duplicate gets that is begun now.
    pub(super) fn inheritance(&self) -> Values {
        self.attachments.change(|state| state.living().cloned()).unwrap_or_default()
    }

    /// Gives a new communicator what it inherits.
    pub(super) fn inherit_attachments(&self, theirs: Values) {
        self.attachments.change(|state| *state = State::Living(theirs));
    }
}

impl Attachments {
    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn find(all: &Values, type_id: TypeId) -> Option<usize> {
    all.iter().position(|(of, _)| *of == type_id)
}

impl State {
    fn living(&mut self) -> Option<&mut Values> {
        match self {
            Self::Living(all) => Some(all),
            Self::Freed => None,
        }
    }
}
