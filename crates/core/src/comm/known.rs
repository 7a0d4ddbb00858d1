//! The communicators of a process: which there are, which cannot be freed, and which are going to end.

use std::sync::{Arc, Weak};

use super::Communicator;
use oxmpi_base::Ordered;

/// See the module.
#[derive(Debug)]
pub(crate) struct Communicators {
    /// Those of all ranks and of this one alone.
    predefined: [Arc<Communicator>; 2],
    /// By their contexts here, for reports.
    known: Ordered<u32, Weak<Communicator>>,
    /// Those that were freed while operations on them were under way.
    leaving: Vec<Arc<Communicator>>,
    /// By context: messages under way that need it, besides those who hold the communicator. To count them here is no
    /// locked instruction.
    uses: Vec<u32>,
}

impl Communicators {
    /// Those with which a process begins; the program knows nothing of `more`.
    pub(crate) fn new(predefined: [&Arc<Communicator>; 2], more: &Arc<Communicator>) -> Self {
        let mut all = Self {
            predefined: predefined.map(Arc::clone),
            known: Ordered::new(),
            leaving: Vec::new(),
            uses: Vec::new(),
        };
        predefined.into_iter().chain([more]).for_each(|comm| all.note(comm));
        all
    }

    /// That of all ranks.
    pub(crate) fn world(&self) -> &Arc<Communicator> {
        &self.predefined[0]
    }

    /// Takes a new one in.
    pub(crate) fn note(&mut self, comm: &Arc<Communicator>) {
        self.known.insert(comm.context, Arc::downgrade(comm));
    }

    /// The one with this context.
    pub(crate) fn at_context(&self, context: u32) -> Option<Arc<Communicator>> {
        self.known.get(context).and_then(Weak::upgrade)
    }

    /// All that there are.
    pub(crate) fn living(&self) -> impl Iterator<Item = Arc<Communicator>> {
        self.known.iter().filter_map(|(_, comm)| comm.upgrade())
    }

    /// Whether a communicator exists from the start, and so cannot be freed.
    pub(crate) fn is_predefined(&self, comm: &Arc<Communicator>) -> bool {
        self.predefined.iter().any(|predefined| Arc::ptr_eq(comm, predefined))
    }

    /// Notes a message that needs a context until [`Communicators::end_use`].
    #[inline(always)]
    pub(crate) fn begin_use(&mut self, context: u32) {
        if context as usize >= self.uses.len() {
            self.make_room(context);
        }
        self.uses[context as usize] += 1;
    }

    #[cold]
    fn make_room(&mut self, context: u32) {
        self.uses.resize(context as usize + 1, 0);
    }

    /// Notes that such a message is over.
    #[inline]
    pub(crate) fn end_use(&mut self, context: u32) {
        self.uses[context as usize] -= 1;
    }

    /// Lets one end when nobody uses it any more.
    pub(crate) fn free(&mut self, comm: Arc<Communicator>) {
        self.leaving.push(comm);
    }

    /// Whether some are to end.
    #[inline]
    pub(crate) fn is_any_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Those freed communicators that no operation needs any more: nobody knows them from now on.
    pub(crate) fn take_over(&mut self) -> Vec<Arc<Communicator>> {
        let is_used =
            |comm: &Communicator| self.uses.get(comm.context as usize).is_some_and(|&uses| uses > 0);
        let (over, still): (Vec<_>, Vec<_>) =
            self.leaving.drain(..).partition(|comm| Arc::strong_count(comm) == 1 && !is_used(comm));
        self.leaving = still;
        over.iter().for_each(|comm| drop(self.known.remove(comm.context)));
        over
    }
}
