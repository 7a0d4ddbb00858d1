//! `#[derive(Datatype)]` and `#[test]` of the crate `oxmpi`, which says what they do.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.
#![forbid(unsafe_code)]

mod fields;
mod item;
mod ranks;
mod tokens;
mod variants;

use item::Item;
use tokens::{Refusal, TokenStream, TokenTree, fill};

/// Describes a structure, or an enumeration without fields, as an element of messages: see `oxmpi::Datatype`.
///
/// It names things of `oxmpi`: a crate to which that has another name, `mpi` say, needs `extern crate mpi as oxmpi;` in
/// its root.
#[cfg(not(test))]
#[proc_macro_derive(Datatype)]
pub fn derive_datatype(input: TokenStream) -> TokenStream {
    derive(input).unwrap_or_else(Refusal::into_compile_error)
}

/// A test that runs on the ranks of a job, each a thread: `#[oxmpi::test(ranks = 4)]`, or of several jobs, one after
/// the other: `#[oxmpi::test(ranks = [1, 2, 7])]`.
///
/// Plain `cargo test` runs it; nothing else is needed. The function takes the communicator of all ranks, at whatever
/// thread level; it returns nothing, or a `Result` whose error can be shown. The test fails if a rank does, or waits
/// for one that has left. See `oxmpi::run`.
///
/// A crate to which `oxmpi` has another name needs `extern crate mpi as oxmpi;` in its root, as for the derive.
///
/// Where all names are imported (`use oxmpi::*;`), a plain `#[test]` may be either one, and the compiler refuses it
/// (E0659): `use core::prelude::v1::test;` says which.
#[cfg(not(test))]
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ranks::test(arguments, item).unwrap_or_else(Refusal::into_compile_error)
}

fn derive(input: TokenStream) -> Result<TokenStream, Refusal> {
    let item = Item::parse(input, "::oxmpi::Datatype")?;
    let name = TokenTree::from(item.name.clone());
    let layout = match &*item.keyword {
        "struct" => fields::layout(&item)?,
        "enum" => variants::layout(&item)?,
        _ => {
            let text = "a union has not one layout: what its bytes mean is not known here";
            return Err(Refusal::of(&[name], text));
        }
    };
    // It is sound: each field is described by its own type, where it lies, and nothing else is; of an enumeration all
    // bits that are a value are listed.
    let text = "
        #[automatically_derived]
        unsafe impl<PARAMETERS> ::oxmpi::Datatype for NAME<ARGUMENTS> BOUNDS {
            const LAYOUT: ::oxmpi::Layout = DESCRIBED;
        }
        #[automatically_derived]
        impl<PARAMETERS> ::oxmpi::Single for NAME<ARGUMENTS> BOUNDS {}";
    let holes = [
        ("ARGUMENTS", item.arguments),
        ("BOUNDS", item.bounds),
        ("DESCRIBED", layout),
        ("NAME", name.into()),
        ("PARAMETERS", item.parameters),
    ];
    Ok(fill(text, &holes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_is_refused_and_a_refusal_does_not_compile() {
        let refusal = derive("union U { a: u8 }".parse().expect("it is Rust")).expect_err("it is a union");
        let error = refusal.into_compile_error().to_string();
        assert!(error.contains("compile_error") && error.contains("a union has not one layout"), "{error}");
    }
}
