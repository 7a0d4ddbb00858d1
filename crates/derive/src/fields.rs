//! Structures: their fields, in the order in which they are declared, where the compiler has put them.

use crate::item::Item;
use crate::tokens::{
    Delimiter, Literal, Refusal, TokenStream, TokenTree, attributes, fill, located_at, split, stream,
    visibility,
};

/// A field: its name or its index, and its type.
struct Field {
    member: TokenStream,
    of_type: TokenStream,
}

/// The layout of a structure.
///
/// An attribute that stands behind the derive may make another structure of it than is seen here. So what is found is
/// compared with what is there: the pattern has all fields, and each is bound, by value, to its own type. A macro that
/// stands for a type may be another one each time: that of a field is what the compiler finds it to be. What is wrong
/// with it is shown where it stands.
///
/// # Errors
/// If something else than fields stands where they should.
pub fn layout(item: &Item) -> Result<TokenStream, Refusal> {
    let fields = fields(item)?;
    let each = |text: &str| -> TokenStream {
        let fill = |(index, field): (usize, &Field)| {
            let name = fill(&format!("field_{index}"), &[]);
            let holes = [("MEMBER", field.member.clone()), ("TYPE", field.of_type.clone()), ("NAME", name)];
            located_at(&field.of_type, fill(text, &holes))
        };
        fields.iter().enumerate().map(fill).collect()
    };
    let text = "{
        let _ = |Self { MEMBERS }: Self| { TYPES };
        ::oxmpi::Layout::structure(::core::mem::size_of::<Self>(), const { &[FIELDS] })
    }";
    // In a tuple of no expected type, so that a field of type `!` is not taken for what it would be coerced to.
    let field = "::oxmpi::Field::of(::core::mem::offset_of!(Self, MEMBER),
        |whole: Self| match (whole.MEMBER,) { field => field }),";
    let holes =
        [("MEMBERS", each("MEMBER: NAME,")), ("TYPES", each("let _: TYPE = NAME;")), ("FIELDS", each(field))];
    Ok(fill(text, &holes))
}

fn fields(item: &Item) -> Result<Vec<Field>, Refusal> {
    let Some(body) = &item.body else { return Ok(Vec::new()) };
    let is_tuple = body.delimiter() == Delimiter::Parenthesis;
    let tokens = body.stream().into_iter().collect::<Vec<_>>();
    let field = |(index, part)| {
        let (_, part) = visibility(attributes(part).1);
        match part {
            [TokenTree::Ident(name), _, of_type @ ..] if !is_tuple => {
                Ok(Field { member: TokenTree::from(name.clone()).into(), of_type: stream(of_type) })
            }
            [_, ..] if is_tuple => {
                let index = TokenTree::from(Literal::usize_unsuffixed(index));
                Ok(Field { member: index.into(), of_type: stream(part) })
            }
            _ => Err(Refusal::of(part, "a field should stand here")),
        }
    };
    split(&tokens).into_iter().enumerate().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Group;

    fn found(item: TokenStream) -> Vec<(String, String)> {
        let item = Item::parse(item, "Bound").unwrap_or_else(|refusal| panic!("{}", refusal.text));
        let fields = fields(&item).unwrap_or_else(|refusal| panic!("{}", refusal.text));
        let shown = |tokens: &TokenStream| tokens.to_string().replace(' ', "");
        fields.iter().map(|field| (shown(&field.member), shown(&field.of_type))).collect()
    }

    fn expected(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|&(member, of_type)| (member.into(), of_type.into())).collect()
    }

    #[test]
    fn fields_end_where_their_types_do() {
        let named = "struct S { /// One.\n pub a: A<B, C>, pub(in crate::x) r#b: fn(A, B) -> D<E, -1>, \
                     c: [A<B, C>; 1 << 2], }";
        let fields = [("a", "A<B,C>"), ("r#b", "fn(A,B)->D<E,-1>"), ("c", "[A<B,C>;1<<2]")];
        assert_eq!(found(named.parse().expect("it is Rust")), expected(&fields));
        let tuple = "struct S(pub (crate::A, u8), pub(crate) (B), #[doc = \"x\"] <C as D<E, F>>::G);";
        let fields = [("0", "(crate::A,u8)"), ("1", "(B)"), ("2", "<CasD<E,F>>::G")];
        assert_eq!(found(tuple.parse().expect("it is Rust")), expected(&fields));
        assert_eq!(found("struct S;".parse().expect("it is Rust")), []);
        assert_eq!(found("struct S {}".parse().expect("it is Rust")), []);
    }

    /// A macro has what it was given in groups without brackets, a visibility that is none in an empty one.
    #[test]
    fn what_a_macro_was_given_is_understood() {
        let group = |text: &str| -> TokenStream {
            TokenTree::from(Group::new(Delimiter::None, text.parse().expect("it is Rust"))).into()
        };
        let (empty, public, of_type) = (group(""), group("pub(crate)"), group("A<B, C>"));
        let holes = [("EMPTY", empty), ("PUBLIC", public), ("TYPE", of_type)];
        let fields = found(fill("PUBLIC struct S { EMPTY a: TYPE, PUBLIC b: u8 }", &holes));
        assert_eq!(fields, expected(&[("a", "A<B,C>"), ("b", "u8")]));
        let fields = found(fill("struct S(TYPE, EMPTY TYPE, PUBLIC TYPE);", &holes));
        assert_eq!(fields, expected(&[("0", "A<B,C>"), ("1", "A<B,C>"), ("2", "A<B,C>")]));
    }
}
