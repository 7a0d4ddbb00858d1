//! Tests on ranks.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, Ident, Result, Token, Visibility, token};

/// On how many ranks a test runs, one job after the other: an array.
pub struct Ranks(TokenStream);

/// A function, as far as it matters what it is.
pub struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    name: Ident,
    /// Its arguments, what it returns, and its body.
    rest: TokenStream,
}

impl Parse for Ranks {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: Ident = input.parse()?;
        if name != "ranks" {
            return Err(Error::new_spanned(name, "this should be `ranks = 4`, or `ranks = [1, 2, 7]`"));
        }
        input.parse::<Token![=]>()?;
        let is_array = input.peek(token::Bracket);
        let counts: TokenStream = input.parse()?;
        Ok(Self(if is_array { counts } else { quote!([#counts]) }))
    }
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (attributes, visibility) = (Attribute::parse_outer(input)?, input.parse()?);
        input.parse::<Token![fn]>()?;
        Ok(Self { attributes, visibility, name: input.parse()?, rest: input.parse()? })
    }
}

impl Ranks {
    /// The test that runs `function` on so many ranks.
    pub fn test(&self, function: &Function) -> TokenStream {
        let (counts, Function { attributes, visibility, name, rest }) = (&self.0, function);
        quote! {
            #[::core::prelude::v1::test]
            #(#attributes)*
            #visibility fn #name() {
                fn #name #rest
                ::oxmpi::testing::on_ranks(&#counts, #name);
            }
        }
    }
}
