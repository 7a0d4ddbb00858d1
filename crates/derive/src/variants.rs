//! Enumerations without fields: integers, not all of which are a variant.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput, Error, Ident, Result};

/// What may stand in `repr` of an enumeration, beside the layout of C.
const INTEGERS: [&str; 10] = ["i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize"];

/// The layout of an enumeration.
///
/// An attribute that stands behind the derive may make another enumeration of it than is seen here, and take its `repr`
/// away. So what is found is compared with what is there: the variants are all that there are, the integer is as
/// large as they are, and of each it is the bits that are taken, whatever integer that variant is.
///
/// # Errors
/// If a variant has fields, there is no variant, or `repr` does not say which integer it is.
pub fn layout(input: &DeriveInput, data: &DataEnum) -> Result<TokenStream> {
    if let Some(variant) = data.variants.iter().find(|variant| !variant.fields.is_empty()) {
        let text =
            "a variant with fields has a layout of its own: only enumerations without fields are datatypes";
        return Err(Error::new_spanned(variant, text));
    }
    if data.variants.is_empty() {
        return Err(Error::new_spanned(&input.ident, "an enumeration without variants has no values"));
    }
    let integer = integer(input)?;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    Ok(quote! {{
        let _ = |variant: Self| match variant { #(Self::#variants => ()),* };
        ::oxmpi::Layout::variants::<#integer>(const {
            // SAFETY: any bits are an integer; where some of them are none, the constant is no constant.
            &[#(unsafe { ::core::mem::transmute::<Self, #integer>(Self::#variants) } as u64),*]
        })
    }})
}

/// The integer that `repr` says.
fn integer(input: &DeriveInput) -> Result<Ident> {
    let mut found = None;
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            let word = meta.path.get_ident().cloned();
            found =
                found.take().or_else(|| word.filter(|word| INTEGERS.iter().any(|integer| word == integer)));
            Ok(())
        })?;
    }
    let text = "which integer it is has to be said, as in #[repr(u8)]";
    found.ok_or_else(|| Error::new_spanned(&input.ident, text))
}

#[cfg(test)]
mod tests {
    use syn::{Data, DeriveInput, parse_quote};

    #[test]
    fn what_is_refused_is_told() {
        let told = |input: DeriveInput| {
            let Data::Enum(data) = &input.data else { panic!("it is an enumeration") };
            super::layout(&input, data).expect_err("it is no integer").to_string()
        };
        let fields = told(parse_quote!(
            #[repr(u8)]
            enum Shape {
                Circle(f64),
                Point,
            }
        ));
        assert!(fields.contains("a variant with fields"), "{fields}");
        let none = told(parse_quote!(
            #[repr(u8)]
            enum Never {}
        ));
        assert!(none.contains("without variants"), "{none}");
        let integer = told(parse_quote!(
            #[repr(C)]
            enum Kind {
                Fluid,
                Wall,
            }
        ));
        assert!(integer.contains("which integer"), "{integer}");
    }
}
