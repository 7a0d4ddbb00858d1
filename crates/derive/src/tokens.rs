//! Tokens: how they are taken apart, and put together.
//!
//! What a derive has to see of Rust is little: attributes, visibilities, and where generics end. So it takes 0.2 s to
//! compile, and not the 2 s that a parser of all of Rust takes whoever depends on `oxmpi`.

#[cfg(not(test))]
pub use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
// That of the compiler works nowhere but in the compiler.
#[cfg(test)]
pub use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// What is wrong, and with what.
pub struct Refusal {
    pub text: &'static str,
    pub span: Span,
}

impl Refusal {
    /// Says what is wrong with the first of these tokens, or, where there is none, with the use of the macro.
    pub fn of(tokens: &[TokenTree], text: &'static str) -> Self {
        Self { text, span: tokens.first().map_or_else(Span::call_site, TokenTree::span) }
    }

    /// Tokens that do not compile, and say why.
    pub fn into_compile_error(self) -> TokenStream {
        let text = TokenTree::from(Literal::string(self.text)).into();
        let at_span = |mut token: TokenTree| {
            token.set_span(self.span);
            token
        };
        fill("::core::compile_error! { TEXT }", &[("TEXT", text)]).into_iter().map(at_span).collect()
    }
}

/// The tokens of `text`, with others wherever the name of a hole stands in it.
pub fn fill(text: &str, holes: &[(&str, TokenStream)]) -> TokenStream {
    fill_in(text.parse().expect("the text is Rust"), holes)
}

fn fill_in(tokens: TokenStream, holes: &[(&str, TokenStream)]) -> TokenStream {
    let filled = |token| match token {
        TokenTree::Group(group) => {
            TokenTree::from(Group::new(group.delimiter(), fill_in(group.stream(), holes))).into()
        }
        TokenTree::Ident(name) => {
            let hole = holes.iter().find(|(hole, _)| is_word(&name, hole));
            hole.map_or_else(|| TokenTree::from(name).into(), |(_, tokens)| tokens.clone())
        }
        other => TokenStream::from(other),
    };
    tokens.into_iter().map(filled).collect()
}

/// These tokens, which name what they did; what is wrong with them is shown where the first of `place` stands.
pub fn located_at(place: &TokenStream, tokens: TokenStream) -> TokenStream {
    let Some(first) = place.clone().into_iter().next() else { return tokens };
    let located = |token| {
        let span = TokenTree::span(&token).located_at(first.span());
        let mut token = match token {
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), located_at(place, group.stream())))
            }
            other => other,
        };
        token.set_span(span);
        token
    };
    tokens.into_iter().map(located).collect()
}

/// These tokens.
pub fn stream(tokens: &[TokenTree]) -> TokenStream {
    tokens.iter().cloned().collect()
}

/// What is in a group, taken out of the groups without brackets that a macro makes of what it was given.
pub fn inside(group: &Group) -> Vec<TokenTree> {
    bare(group.stream())
}

/// Tokens, taken out of the groups without brackets that a macro makes of what it was given.
pub fn bare(tokens: TokenStream) -> Vec<TokenTree> {
    match &*tokens.into_iter().collect::<Vec<_>>() {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => inside(group),
        tokens => tokens.to_vec(),
    }
}

/// Whether a token is this mark.
pub fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == mark)
}

/// Whether a name is this word.
pub fn is_word(name: &Ident, word: &str) -> bool {
    name.to_string().eq(word)
}

/// Where marks are that stand in no brackets, and not between `<` and `>`, which are marks themselves.
pub fn marks(tokens: &[TokenTree]) -> impl Iterator<Item = (usize, char)> {
    let (mut depth, mut before) = (0_u32, ' ');
    tokens.iter().enumerate().filter_map(move |(index, token)| {
        let TokenTree::Punct(mark) = token else {
            before = ' ';
            return None;
        };
        let mark = mark.as_char();
        let is_arrow = before == '-' && mark == '>';
        before = mark;
        if mark == '>' && !is_arrow {
            depth = depth.saturating_sub(1);
        }
        let is_outside = depth == 0;
        if mark == '<' {
            depth += 1;
        }
        is_outside.then_some((index, mark))
    })
}

/// What stands between commas: types, or what is declared with them. One more at the end is none.
pub fn split(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let commas = marks(tokens).filter(|&(_, mark)| mark == ',').map(|(index, _)| index);
    let (mut start, mut parts) = (0, Vec::new());
    for end in commas.chain([tokens.len()]) {
        if start < end {
            parts.push(&tokens[start..end]);
        }
        start = end + 1;
    }
    parts
}

/// The attributes, without `#`, and what stands behind them.
pub fn attributes(mut tokens: &[TokenTree]) -> (Vec<&Group>, &[TokenTree]) {
    let mut found = Vec::new();
    while let [mark, TokenTree::Group(attribute), rest @ ..] = tokens
        && is_mark(mark, '#')
    {
        found.push(attribute);
        tokens = rest;
    }
    (found, tokens)
}

/// The visibility, and what stands behind it.
pub fn visibility(tokens: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let is_public = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if is_word(word, "pub"));
    let length = match tokens {
        // A macro was given it, and has it in a group. A type may be in one, too.
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::None => {
            group.stream().into_iter().next().is_none_or(|token| is_public(&token)).into()
        }
        [word, TokenTree::Group(group), ..] if is_public(word) && is_place(group) => 2,
        [word, ..] => is_public(word).into(),
        [] => 0,
    };
    tokens.split_at(length)
}

/// Whether it says where something is visible: `(crate)`, and not the `(crate::Number, u8)` of a field.
fn is_place(group: &Group) -> bool {
    let words: Vec<_> = group.stream().into_iter().map(|token| token.to_string()).collect();
    group.delimiter() == Delimiter::Parenthesis
        && match &*words {
            [word] => ["crate", "self", "super"].contains(&&**word),
            [word, ..] => word == "in",
            [] => false,
        }
}
