//! Tests on ranks.

use crate::tokens::{
    Delimiter, Refusal, TokenStream, TokenTree, attributes, bare, fill, is_mark, is_word, stream, visibility,
};

/// The test that runs a function on as many ranks as the arguments say, one job after the other.
///
/// # Errors
/// If they do not say it, or it is no function.
pub fn test(arguments: TokenStream, function: TokenStream) -> Result<TokenStream, Refusal> {
    let (counts, function) = (counts(arguments)?, bare(function));
    let (_, rest) = attributes(&function);
    let attributes = &function[..function.len() - rest.len()];
    let (visibility, rest) = visibility(rest);
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), rest @ ..] = rest else {
        return Err(Refusal::of(rest, "a function should stand here"));
    };
    if !is_word(keyword, "fn") {
        return Err(Refusal { text: "`fn` should stand here", span: keyword.span() });
    }
    let text = "
        #[::core::prelude::v1::test]
        ATTRIBUTES VISIBILITY fn NAME() {
            fn NAME REST
            ::oxmpi::testing::on_ranks(&COUNTS, NAME);
        }";
    let holes = [
        ("ATTRIBUTES", stream(attributes)),
        ("COUNTS", counts),
        ("NAME", TokenTree::from(name.clone()).into()),
        ("REST", stream(rest)),
        ("VISIBILITY", stream(visibility)),
    ];
    Ok(fill(text, &holes))
}

/// On how many ranks: an array.
fn counts(arguments: TokenStream) -> Result<TokenStream, Refusal> {
    let arguments = bare(arguments);
    let text = "this should be `ranks = 4`, or `ranks = [1, 2, 7]`";
    let counts = match &*arguments {
        [TokenTree::Ident(name), mark, counts @ ..] if is_word(name, "ranks") && is_mark(mark, '=') => {
            bare(stream(counts))
        }
        other => return Err(Refusal::of(other, text)),
    };
    match &*counts {
        [] => Err(Refusal::of(&arguments, text)),
        [TokenTree::Group(array)] if array.delimiter() == Delimiter::Bracket => Ok(stream(&counts)),
        _ => Ok(fill("[COUNTS]", &[("COUNTS", stream(&counts))])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_of(arguments: &str, function: &str) -> Result<String, &'static str> {
        let parsed = |text: &str| text.parse().expect("they are tokens");
        let test = test(parsed(arguments), parsed(function));
        test.map(|test| test.to_string().replace(' ', "")).map_err(|refusal| refusal.text)
    }

    #[test]
    fn the_function_stands_in_a_test() {
        let test = test_of("ranks = 4", "#[ignore] pub(crate) fn it(world: &W) -> R<()> { x() }")
            .expect("it is one");
        let expected = "#[::core::prelude::v1::test]#[ignore]pub(crate)fnit(){fnit(world:&W)->R<()>{x()}\
                        ::oxmpi::testing::on_ranks(&[4],it);}";
        assert_eq!(test, expected);
        let test = test_of("ranks = [1, 2]", "fn it() {}").expect("it is one");
        assert!(test.contains("on_ranks(&[1,2],it)"), "{test}");
    }

    #[test]
    fn what_is_refused_is_told() {
        for arguments in ["", "4", "size = 4", "ranks", "ranks ="] {
            let told = test_of(arguments, "fn it() {}").expect_err("it does not say how many");
            assert!(told.contains("ranks = 4"), "{arguments}: {told}");
        }
        assert!(
            test_of("ranks = 4", "async fn it() {}").expect_err("there are no such tests").contains("fn")
        );
        assert!(test_of("ranks = 4", "struct S;").expect_err("it is no function").contains("fn"));
    }
}
