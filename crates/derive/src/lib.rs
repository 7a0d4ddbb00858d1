//! `#[derive(Datatype)]` and `#[test]` of the crate `oxmpi`, which says what they do.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.
#![forbid(unsafe_code)]

mod fields;
mod ranks;
mod variants;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, GenericParam, Result, parse_quote};

use ranks::{Function, Ranks};

/// Describes a structure, or an enumeration without fields, as an element of messages: see `oxmpi::Datatype`.
#[proc_macro_derive(Datatype)]
pub fn derive_datatype(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive(input).unwrap_or_else(Error::into_compile_error).into()
}

/// A test that runs on the ranks of a job, each a thread: `#[oxmpi::test(ranks = 4)]`, or of several jobs, one after
/// the other: `#[oxmpi::test(ranks = [1, 2, 7])]`.
///
/// Plain `cargo test` runs it; nothing else is needed. The function takes the communicator of all ranks, at whatever
/// thread level; it returns nothing, or a `Result` whose error can be shown. The test fails if a rank does, or waits
/// for one that has left. See `oxmpi::run`.
#[proc_macro_attribute]
pub fn test(arguments: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let function = syn::parse_macro_input!(item as Function);
    syn::parse_macro_input!(arguments as Ranks).test(&function).into()
}

fn derive(mut input: DeriveInput) -> Result<TokenStream> {
    let layout = match &input.data {
        Data::Struct(data) => fields::layout(&data.fields),
        Data::Enum(data) => variants::layout(&input, data)?,
        Data::Union(_) => {
            let text = "a union has not one layout: what its bytes mean is not known here";
            return Err(Error::new_spanned(&input.ident, text));
        }
    };
    for parameter in &mut input.generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(::oxmpi::Datatype));
        }
    }
    let (name, (generics, arguments, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        // SAFETY: each field is described by its own type, where it lies, and nothing else is; of an enumeration all
        // bits that are a value are listed.
        #[automatically_derived]
        unsafe impl #generics ::oxmpi::Datatype for #name #arguments #bounds {
            const LAYOUT: ::oxmpi::Layout = #layout;
        }
        #[automatically_derived]
        impl #generics ::oxmpi::Single for #name #arguments #bounds {}
    })
}
