//! An attribute macro: what stands before it, such as a derive, sees another item than there will be.
#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// `#[becomes(struct Flag(bool);)]`: the item is this one.
#[proc_macro_attribute]
pub fn becomes(another: TokenStream, _item: TokenStream) -> TokenStream {
    another
}
