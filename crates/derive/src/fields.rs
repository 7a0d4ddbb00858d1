//! Structures: their fields, in the order in which they are declared, where the compiler has put them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Field, Fields, Index, Member};

/// The layout of a structure with these fields.
///
/// An attribute that stands behind the derive may make another structure of it than is seen here. So what is found is
/// compared with what is there: the pattern has all fields, and each is bound, by value, to its own type.
pub fn layout(fields: &Fields) -> TokenStream {
    let types: Vec<_> = fields.iter().map(|field| &field.ty).collect();
    let names: Vec<_> = (0..fields.len()).map(|index| format_ident!("field_{index}")).collect();
    let member = |(index, field): (usize, &Field)| {
        field.ident.clone().map_or_else(|| Member::Unnamed(Index::from(index)), Member::Named)
    };
    let members: Vec<_> = fields.iter().enumerate().map(member).collect();
    quote! {{
        let _ = |Self { #(#members: #names),* }: Self| { #(let _: #types = #names;)* };
        ::oxmpi::Layout::structure(::core::mem::size_of::<Self>(), const {
            &[#(::oxmpi::Field::new::<#types>(::core::mem::offset_of!(Self, #members))),*]
        })
    }}
}
