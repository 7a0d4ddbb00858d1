//! What a program attaches to communicators: a value of each type.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Communicator;

/// What is attached to a communicator.
pub type Attachment = Arc<dyn Any + Send + Sync>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Attachments(Mutex<BTreeMap<TypeId, Attachment>>);

impl Communicator {
    /// Attaches a value, in place of what was attached of its type, which is the result. Duplicates have it, too.
    pub fn attach(&self, type_id: TypeId, value: Attachment) -> Option<Attachment> {
        self.attachments.all(|all| all.insert(type_id, value))
    }

    /// What is attached of a type.
    pub fn attached(&self, type_id: TypeId) -> Option<Attachment> {
        self.attachments.all(|all| all.get(&type_id).cloned())
    }

    /// Takes off what is attached of a type.
    pub fn detach(&self, type_id: TypeId) -> Option<Attachment> {
        self.attachments.all(|all| all.remove(&type_id))
    }

    /// Gives a new communicator what the one has that it duplicates.
    pub(crate) fn inherit_attachments(&self, from: &Self) {
        let theirs = from.attachments.all(|all| all.clone());
        self.attachments.all(|all| *all = theirs);
    }
}

impl Attachments {
    fn all<R>(&self, change: impl FnOnce(&mut BTreeMap<TypeId, Attachment>) -> R) -> R {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
