//! Files with places to fill in: what of an output does not depend on the specification lies in `templates/`.

/// `template` with the text for each `$NAME`, which is written without the `$`.
///
/// # Panics
/// If the template has a place that `values` does not name, or the other way round.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut pieces = template.split('$');
    let mut out = pieces.next().expect("split yields at least one piece").to_owned();
    let mut used = vec![false; values.len()];
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_uppercase() && c != '_').unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        let place = values.iter().position(|(known, _)| *known == name);
        let place = place.unwrap_or_else(|| panic!("nothing is given for the place ${name}"));
        used[place] = true;
        out.push_str(values[place].1.trim_end_matches('\n'));
        out.push_str(rest);
    }
    assert!(used.iter().all(|used| *used), "the template has no place for some of what is given");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_what_fills_them_is_left_alone() {
        let text = filled("a [$LONG_NAME; $LONG]\n", &[("LONG", "2"), ("LONG_NAME", "$LONG\n")]);
        assert_eq!(text, "a [$LONG; 2]\n");
    }

    #[test]
    #[should_panic(expected = "$OTHER")]
    fn a_place_without_a_text_is_a_defect() {
        filled("$OTHER", &[("ONE", "1")]);
    }
}
