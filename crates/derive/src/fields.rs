//! Structures: their fields, in the order in which they are declared, where the compiler has put them.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, Index, Member};

/// The layout of a structure with these fields.
pub fn layout(fields: &Fields) -> TokenStream {
    let fields = fields.iter().enumerate().map(|(index, field)| {
        let member = field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(index)), Member::Named);
        let datatype = &field.ty;
        quote! {
            ::oxmpi::Field::new::<#datatype>(::core::mem::offset_of!(Self, #member))
        }
    });
    quote! {
        ::oxmpi::Layout::structure(::core::mem::size_of::<Self>(), const { &[#(#fields),*] })
    }
}
