//! The file of `-configfile`: one block of the command line a line, or several with a lone `:` between.
//!
//! Lines that begin with `#` are comments, a `\` at the end of a line joins it to the next, words may be quoted
//! with `'` or `"`.

use std::ffi::OsString;

/// The words of each block, empty lines left out.
///
/// # Errors
/// What is wrong, with the line, if a quote is not closed.
pub fn blocks(text: &str) -> Result<Vec<Vec<OsString>>, String> {
    let joined = text.replace("\\\n", " ");
    let mut blocks = Vec::new();
    for line in joined.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words = words(line).ok_or_else(|| format!("a quote is not closed in the line `{line}`"))?;
        blocks.extend(words.split(|word| word == ":").map(<[OsString]>::to_vec));
    }
    Ok(blocks)
}

/// Splits `line` at white space outside quotes; `None` if a quote is not closed.
fn words(line: &str) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take().map(OsString::from)),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.map(OsString::from));
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_skipped_and_long_lines_joined() {
        let text = "# a comment\n\n-n 2 ./a \\\n  x\n  -n 1 ./b 'one word' \"\"\n";
        let expected: Vec<Vec<OsString>> = vec![
            ["-n", "2", "./a", "x"].map(OsString::from).to_vec(),
            ["-n", "1", "./b", "one word", ""].map(OsString::from).to_vec(),
        ];
        assert_eq!(blocks(text), Ok(expected));
    }

    #[test]
    fn a_colon_separates_blocks_as_on_the_command_line() {
        let expected = ["-n 2 ./a x:y", "-n 1 ./b", "./c"].map(|block| words(block).expect("no quotes"));
        assert_eq!(blocks("-n 2 ./a x:y : -n 1 ./b\n./c\n"), Ok(expected.to_vec()));
        assert_eq!(blocks("./a :").map(|blocks| blocks.len()), Ok(2), "an empty one, which is refused");
    }

    #[test]
    fn an_open_quote_is_an_error_that_shows_the_line() {
        assert!(blocks("-n 1 'a b").is_err_and(|text| text.contains("-n 1 'a b")));
    }
}
