//! The types of a collective's data, noted while its arguments are looked at, where the user wants them compared.
//!
//! All significant arguments of a collective have the same types, block by block: the first ones tell them.

use std::cell::RefCell;
use std::iter::repeat_n;
use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_core::Process;
use oxmpi_datatype::Datatype;
use oxmpi_engine::Signature;

static IS_WANTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Of the first arguments since the last call of `begin`: perhaps there is none that can be told.
    static FIRST: RefCell<Option<Option<Signature>>> = const { RefCell::new(None) };
}

/// Whether the types of data are to be noted.
#[inline]
pub fn is_wanted() -> bool {
    IS_WANTED.load(Ordering::Relaxed)
}

/// Notes types from now on if the process compares them.
pub fn want(process: &Process) {
    IS_WANTED.store(process.compares_types(), Ordering::Relaxed);
}

/// Begins to look at the arguments of a collective.
#[cold]
pub fn begin() {
    take();
}

/// Notes the types of `count` elements, if they are the first.
#[cold]
pub fn note(count: u64, datatype: &Datatype) {
    with_first(|first| {
        first.get_or_insert_with(|| match datatype.element() {
            Some(basic) => {
                let in_one = datatype.size() / basic.size() as u64;
                Signature::of([(basic, in_one * count)])
            }
            None => Signature::of(repeat_n((), count as usize).flat_map(|()| datatype.signature())),
        });
    });
}

/// The types that were noted.
#[cold]
pub fn take() -> Option<Signature> {
    with_first(Option::take)??
}

/// Nothing is noted any more once the thread's local data are gone: it may call MPI still.
fn with_first<T>(use_it: impl FnOnce(&mut Option<Option<Signature>>) -> T) -> Option<T> {
    FIRST.try_with(|first| use_it(&mut first.borrow_mut())).ok()
}
