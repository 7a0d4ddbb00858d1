//! What a structure, an enumeration or a union is called, and what is in it.

use crate::tokens::{
    Delimiter, Group, Ident, Refusal, TokenStream, TokenTree, attributes, bare, fill, is_mark, is_word,
    marks, split, stream, visibility,
};

/// What a derive is given.
pub struct Item {
    /// What stands in its attributes.
    pub attributes: Vec<Group>,
    /// `struct`, `enum` or `union`.
    pub keyword: String,
    pub name: Ident,
    /// What an `impl` declares: the parameters, without defaults.
    pub parameters: TokenStream,
    /// With what the type is named there.
    pub arguments: TokenStream,
    /// `where`, and what stands behind it.
    pub bounds: TokenStream,
    /// Fields or variants, in their brackets.
    pub body: Option<Group>,
}

const UNKNOWN: &str = "a structure or an enumeration should stand here";

impl Item {
    /// Each type that is a parameter is to have the trait `bound`, too.
    ///
    /// # Errors
    /// If it is no item with a name.
    pub fn parse(input: TokenStream, bound: &str) -> Result<Self, Refusal> {
        let tokens = bare(input);
        let (attributes, rest) = attributes(&tokens);
        let (_, rest) = visibility(rest);
        let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = rest else {
            return Err(Refusal::of(rest, UNKNOWN));
        };
        let is_generic = rest.first().is_some_and(|token| is_mark(token, '<'));
        let end = marks(rest).find(|&(_, mark)| is_generic && mark == '>').map_or(0, |(index, _)| index + 1);
        let (generics, rest) = rest.split_at(end);
        let generics = split(if is_generic { &generics[1..end - 1] } else { generics });
        let (body, bounds) = match rest {
            [TokenTree::Group(fields), bounds @ .., _] if fields.delimiter() == Delimiter::Parenthesis => {
                (Some(fields.clone()), bounds)
            }
            [bounds @ .., TokenTree::Group(body)] => (Some(body.clone()), bounds),
            [bounds @ .., _] => (None, bounds),
            [] => return Err(Refusal::of(&tokens, UNKNOWN)),
        };
        Ok(Self {
            attributes: attributes.into_iter().cloned().collect(),
            keyword: keyword.to_string(),
            name: name.clone(),
            parameters: generics.iter().map(|parameter| declared(parameter, bound)).collect(),
            arguments: generics.iter().map(|parameter| named(parameter)).collect(),
            bounds: stream(bounds),
            body,
        })
    }
}

/// A parameter as an `impl` declares it, with a comma.
fn declared(parameter: &[TokenTree], bound: &str) -> TokenStream {
    let (_, parameter) = attributes(parameter);
    let default = marks(parameter).find(|&(_, mark)| mark == '=').map(|(index, _)| index);
    let parameter = &parameter[..default.unwrap_or(parameter.len())];
    let text = match parameter {
        [TokenTree::Ident(word), ..] if is_word(word, "const") => "PARAMETER,".into(),
        [TokenTree::Ident(_)] => format!("PARAMETER: {bound},"),
        [TokenTree::Ident(_), .., last] if is_mark(last, ':') || is_mark(last, '+') => {
            format!("PARAMETER {bound},")
        }
        [TokenTree::Ident(_), ..] => format!("PARAMETER + {bound},"),
        _ => "PARAMETER,".into(),
    };
    fill(&text, &[("PARAMETER", stream(parameter))])
}

/// A parameter by its name, with a comma.
fn named(parameter: &[TokenTree]) -> TokenStream {
    let (_, parameter) = attributes(parameter);
    let name = match parameter {
        [quote, name, ..] if is_mark(quote, '\'') => stream(&[quote.clone(), name.clone()]),
        [TokenTree::Ident(word), name, ..] if is_word(word, "const") => stream(std::slice::from_ref(name)),
        _ => stream(&parameter[..1]),
    };
    fill("NAME,", &[("NAME", name)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> Item {
        let parsed = Item::parse(text.parse().expect("it is Rust"), "Bound");
        parsed.unwrap_or_else(|refusal| panic!("{text}: {}", refusal.text))
    }

    fn same(tokens: &TokenStream, text: &str) {
        let shown = |tokens: &TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(shown(tokens), shown(&text.parse().expect("it is Rust")));
    }

    #[test]
    fn parameters_lose_defaults_and_get_the_bound() {
        let item = item(
            "pub(crate) struct S<'a: 'static, T, U: Fn(T) -> Vec<T>, V: ?Sized + = Vec<u8>, W: = u8, \
             #[allow(x)] const N: usize = { 1 > 0 }> where T: From<[u8; N]> { a: u8 }",
        );
        let parameters =
            "'a: 'static, T: Bound, U: Fn(T) -> Vec<T> + Bound, V: ?Sized + Bound, W: Bound, const N: usize,";
        same(&item.parameters, parameters);
        same(&item.arguments, "'a, T, U, V, W, N,");
        same(&item.bounds, "where T: From<[u8; N]>");
        same(&item.body.expect("it has fields").stream(), "a: u8");
    }

    #[test]
    fn every_form_of_a_body_is_found() {
        let tuple = item("#[repr(C)] #[doc = \"\"] struct S<T>(pub T) where T: Copy;");
        same(&tuple.bounds, "where T: Copy");
        same(&tuple.body.expect("it has fields").stream(), "pub T");
        assert_eq!(tuple.attributes.len(), 2);
        let unit = item("struct S where [(); 1]: Copy;");
        same(&unit.bounds, "where [(); 1]: Copy");
        assert!(unit.body.is_none());
        let union = item("union U { a: u8 }");
        assert_eq!((union.keyword, union.name.to_string()), ("union".into(), "U".into()));
        assert!(item("struct S;").parameters.is_empty());
    }

    #[test]
    fn what_is_no_item_is_refused() {
        for text in ["", "fn()", "struct", "struct S"] {
            assert!(Item::parse(text.parse().expect("they are tokens"), "Bound").is_err(), "{text}");
        }
    }
}
