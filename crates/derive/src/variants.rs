//! Enumerations without fields: integers, not all of which are a variant.

use crate::item::Item;
use crate::tokens::{
    Delimiter, Ident, Refusal, TokenStream, TokenTree, attributes, fill, inside, is_mark, is_word,
};

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
pub fn layout(item: &Item) -> Result<TokenStream, Refusal> {
    let tokens = item.body.iter().flat_map(inside).collect::<Vec<_>>();
    let variants = tokens.split(|token| is_mark(token, ',')).filter(|variant| !variant.is_empty());
    let variants: Vec<_> = variants.map(name).collect::<Result<_, _>>()?;
    let name = [TokenTree::from(item.name.clone())];
    if variants.is_empty() {
        return Err(Refusal::of(&name, "an enumeration without variants has no values"));
    }
    let text = "which integer it is has to be said, as in #[repr(u8)]";
    let integer = integer(item).ok_or_else(|| Refusal::of(&name, text))?;
    let integer = TokenStream::from(TokenTree::from(integer));
    let each = |text: &str| -> TokenStream {
        let fill = |variant: &Ident| {
            let variant = TokenTree::from(variant.clone()).into();
            fill(text, &[("INTEGER", integer.clone()), ("VARIANT", variant)])
        };
        variants.iter().map(fill).collect()
    };
    // Any bits are an integer; where some of them are none, the constant is no constant.
    let bits = "unsafe { ::core::mem::transmute::<Self, INTEGER>(Self::VARIANT) } as u64,";
    let text = "{
        let _ = |variant: Self| match variant { VARIANTS };
        ::oxmpi::Layout::variants::<INTEGER>(const { &[BITS] })
    }";
    let holes =
        [("VARIANTS", each("Self::VARIANT => (),")), ("BITS", each(bits)), ("INTEGER", integer.clone())];
    Ok(fill(text, &holes))
}

/// What a variant is called.
fn name(variant: &[TokenTree]) -> Result<Ident, Refusal> {
    let (_, variant) = attributes(variant);
    let (name, rest) = match variant {
        [TokenTree::Ident(name), TokenTree::Group(fields), rest @ ..] if is_empty(fields.stream()) => {
            (name, rest)
        }
        [TokenTree::Ident(_), TokenTree::Group(fields), ..] if fields.delimiter() != Delimiter::None => {
            let text = "a variant with fields has a layout of its own: \
                        only enumerations without fields are datatypes";
            return Err(Refusal::of(variant, text));
        }
        [TokenTree::Ident(name), rest @ ..] => (name, rest),
        _ => return Err(Refusal::of(variant, "a variant should stand here")),
    };
    if rest.first().is_none_or(|token| is_mark(token, '=')) {
        Ok(name.clone())
    } else {
        Err(Refusal::of(rest, "this value of a variant is not understood here: a constant can have it"))
    }
}

fn is_empty(tokens: TokenStream) -> bool {
    tokens.into_iter().next().is_none()
}

/// The integer that `repr` says.
fn integer(item: &Item) -> Option<Ident> {
    let represented = item.attributes.iter().filter_map(|attribute| match &*inside(attribute) {
        [TokenTree::Ident(name), TokenTree::Group(words)] if is_word(name, "repr") => Some(inside(words)),
        _ => None,
    });
    let mut integers = represented.flatten().filter_map(|token| match token {
        TokenTree::Ident(word) => INTEGERS.contains(&&*word.to_string()).then_some(word),
        _ => None,
    });
    integers.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout_of(text: &str) -> Result<String, &'static str> {
        let item = Item::parse(text.parse().expect("it is Rust"), "Bound");
        let layout = item.and_then(|item| layout(&item));
        layout.map(|layout| layout.to_string().replace(' ', "")).map_err(|refusal| refusal.text)
    }

    #[test]
    fn what_is_refused_is_told() {
        let told = |text: &str| layout_of(text).expect_err("it is no integer");
        let fields = told("#[repr(u8)] enum Shape { Circle(f64), Point }");
        assert!(fields.contains("a variant with fields"), "{fields}");
        let none = told("#[repr(u8)] enum Never {}");
        assert!(none.contains("without variants"), "{none}");
        let integer = told("#[repr(C)] enum Kind { Fluid, Wall }");
        assert!(integer.contains("which integer"), "{integer}");
        let value = told("#[repr(u8)] enum Kind { Fluid = of::<u8, u16>(), Wall }");
        assert!(value.contains("a constant can have it"), "{value}");
    }

    #[test]
    fn values_of_variants_are_passed_over() {
        let text = "#[doc = \"x\"] #[repr(align(4), i16)] \
                    enum Kind { /// One.\n A = 1 << 3, B = -(1 > 0) as i16, r#C, }";
        let layout = layout_of(text).expect("it is an integer");
        assert!(layout.contains("Self::A=>(),Self::B=>(),Self::r#C=>(),"), "{layout}");
        assert!(layout.contains("variants::<i16>"), "{layout}");
    }
}
