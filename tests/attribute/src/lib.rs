//! Macros that a derive cannot see through: an attribute, so that what stands before it sees another item than there
//! will be, and a type that is another one each time.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro::TokenStream;

/// `#[becomes(struct Flag(bool);)]`: the item is this one.
#[proc_macro_attribute]
pub fn becomes(another: TokenStream, _item: TokenStream) -> TokenStream {
    another
}

/// `another!(bool u8)`: the first of these types where it is expanded first, and so on; the last one ever after.
#[proc_macro]
pub fn another(types: TokenStream) -> TokenStream {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let types: Vec<_> = types.into_iter().collect();
    let index = CALLS.fetch_add(1, Ordering::Relaxed).min(types.len() - 1);
    types[index].clone().into()
}
