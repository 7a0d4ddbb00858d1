//! `#[derive(Datatype)]` of the crate `oxmpi`, which says what it does.
//!
//! MPI-5.0: Datatypes, Datatype Constructors.
#![forbid(unsafe_code)]

mod fields;
mod variants;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, GenericParam, Result, parse_quote};

/// Describes a structure, or an enumeration without fields, as an element of messages: see `oxmpi::Datatype`.
#[proc_macro_derive(Datatype)]
pub fn derive_datatype(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = syn::parse_macro_input!(input as DeriveInput);
    derive(input).unwrap_or_else(Error::into_compile_error).into()
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
