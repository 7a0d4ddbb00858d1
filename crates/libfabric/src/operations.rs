//! What is under way: a place for each operation, whose memory the provider has as its context.

use std::cell::UnsafeCell;
use std::ffi::c_void;

use oxmpi_fabric::{Of, Target};

use crate::local::Local;

/// Memory for a provider: `struct fi_context2`.
#[repr(transparent)]
struct Context(UnsafeCell<[u64; 8]>);

/// What there is to know of an operation.
#[derive(Debug)]
pub(crate) struct Operation {
    /// What is told when it is over.
    pub of: Of,
    /// To whom, but for a receive.
    pub to: Option<Target>,
    /// Its memory here.
    pub local: [Local; 2],
}

/// See the module.
pub(crate) struct Operations {
    contexts: Box<[Context]>,
    all: Vec<Option<Operation>>,
    free: Vec<usize>,
}

impl Operations {
    /// As many as there can be.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            contexts: (0..most).map(|_| Context(UnsafeCell::new([0; 8]))).collect(),
            all: (0..most).map(|_| None).collect(),
            free: (0..most).rev().collect(),
        }
    }

    /// A place for one more, and what the provider is told; none if there are none left.
    pub(crate) fn add(&mut self, operation: Operation) -> Option<(usize, *mut c_void)> {
        let place = self.free.pop()?;
        self.all[place] = Some(operation);
        Some((place, (&raw const self.contexts[place]).cast_mut().cast()))
    }

    /// Takes back what was not accepted, or is over.
    pub(crate) fn remove(&mut self, place: usize) -> Option<Operation> {
        let operation = self.all.get_mut(place)?.take()?;
        self.free.push(place);
        Some(operation)
    }

    /// Ends the registrations of all memory here.
    pub(crate) fn forget_local(&mut self) {
        let operations = self.all.iter_mut().flatten();
        operations.flat_map(|operation| &mut operation.local).for_each(Local::forget);
    }

    /// The place of a context that a provider has told; none if it is no one's.
    pub(crate) fn place(&self, context: *mut c_void) -> Option<usize> {
        let first = self.contexts.as_ptr().addr();
        let offset = context.addr().checked_sub(first)?;
        let place = offset / size_of::<Context>();
        (offset % size_of::<Context>() == 0 && place < self.contexts.len()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_mem::Region;

    use super::*;

    #[test]
    fn a_context_leads_to_its_operation_and_no_other_address_does() {
        let mut operations = Operations::new(3);
        let none = || [(); 2].map(|()| Local::plain(Region::EMPTY));
        let of = |context| Operation { of: Of::Sent(context), to: None, local: none() };
        let added: Vec<_> = (0..3).filter_map(|context| operations.add(of(context))).collect();
        assert_eq!(added.len(), 3);
        assert!(operations.add(of(3)).is_none(), "there is no fourth");
        for (place, context) in added {
            assert_eq!(operations.place(context), Some(place));
            assert_eq!(operations.place(context.wrapping_byte_add(8)), None);
            assert!(operations.remove(place).is_some_and(|operation| matches!(operation.of, Of::Sent(_))));
            assert!(operations.remove(place).is_none(), "once");
        }
        assert_eq!(operations.place(std::ptr::null_mut()), None);
    }
}
