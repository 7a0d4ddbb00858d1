//! Which body in `cfront` serves which exported functions, and how arguments are widened for it.
//!
//! A function with `int` counts, its partner with `MPI_Count` counts and, where there is one, the removed
//! function with the same arguments share one body, which takes the wide arguments.

use super::spec::{Function, Parameter, Spec};

/// The body that serves a function.
pub struct Body<'a> {
    /// The function that the body is named after: the one with narrow arguments.
    pub owner: &'a Function,
    /// How each argument travels, in C's order.
    pub conversions: Vec<Conversion>,
}

/// How an export hands an argument to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// From `MPI_Aint` to `MPI_Count`.
    AintToCount,
    /// An array of integers of either width.
    ArrayIn { large: bool },
    /// From `int` to `MPI_Aint`.
    IntToAint,
    /// From `int` to `MPI_Count`.
    IntToCount,
    /// An integer of either width that the function writes.
    Out { large: bool },
    /// As it is.
    Same,
}

/// The body of `function`.
pub fn of<'a>(spec: &'a Spec, function: &'a Function) -> Body<'a> {
    let taken_over = function.same_as.as_deref().and_then(|name| spec.function(name));
    let stand_in = taken_over.unwrap_or(function);
    let partner = |name: &Option<String>| name.as_deref().and_then(|name| spec.function(name));
    let as_small = partner(&stand_in.large)
        .and_then(|large| Some(Body { owner: stand_in, conversions: shared(stand_in, large, false)? }));
    let as_large = partner(&stand_in.large_of)
        .and_then(|small| Some(Body { owner: small, conversions: shared(small, stand_in, true)? }));
    let alone = || Body { owner: stand_in, conversions: vec![Conversion::Same; stand_in.params.len()] };
    as_small.or(as_large).unwrap_or_else(alone)
}

/// How the arguments of `small` (or with `large_called` those of `large`) become those of a body for both;
/// `None` if the two differ in more than the width of integers.
fn shared(small: &Function, large: &Function, large_called: bool) -> Option<Vec<Conversion>> {
    if small.params.len() != large.params.len() {
        return None;
    }
    small
        .params
        .iter()
        .zip(&large.params)
        .map(|(narrow, wide)| conversion(narrow, wide, large_called))
        .collect()
}

fn conversion(narrow: &Parameter, wide: &Parameter, large: bool) -> Option<Conversion> {
    if narrow.name != wide.name {
        return None;
    }
    let by_value = |widen| Some(if large { Conversion::Same } else { widen });
    match (narrow.c_type.as_str(), wide.c_type.as_str()) {
        (narrow, wide) if narrow == wide => Some(Conversion::Same),
        ("int", "MPI_Count") => by_value(Conversion::IntToCount),
        ("MPI_Aint", "MPI_Count") => by_value(Conversion::AintToCount),
        ("int", "MPI_Aint") => by_value(Conversion::IntToAint),
        ("const int *", "const MPI_Count *" | "const MPI_Aint *") => Some(Conversion::ArrayIn { large }),
        ("const MPI_Aint *", "const MPI_Count *") => Some(Conversion::ArrayIn { large: true }),
        ("int *", "MPI_Count *" | "MPI_Aint *") => Some(Conversion::Out { large }),
        ("MPI_Aint *", "MPI_Count *") => Some(Conversion::Out { large: true }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec::load(&crate::cargo::workspace_root().join("spec")).expect("spec/ is readable")
    }

    fn body_of<'a>(spec: &'a Spec, name: &str) -> Body<'a> {
        of(spec, spec.function(name).expect("a function of the standard"))
    }

    #[test]
    fn both_count_widths_share_the_body_of_the_narrow_one() {
        let spec = spec();
        let (small, large) = (body_of(&spec, "MPI_Send"), body_of(&spec, "MPI_Send_c"));
        assert_eq!((small.owner.name.as_str(), large.owner.name.as_str()), ("MPI_Send", "MPI_Send"));
        assert_eq!(small.conversions[1], Conversion::IntToCount);
        assert_eq!(large.conversions[1], Conversion::Same);
    }

    #[test]
    fn arrays_of_counts_keep_their_width_beside_them() {
        let spec = spec();
        assert_eq!(body_of(&spec, "MPI_Gatherv").conversions[4], Conversion::ArrayIn { large: false });
        assert_eq!(body_of(&spec, "MPI_Gatherv_c").conversions[4], Conversion::ArrayIn { large: true });
        assert_eq!(body_of(&spec, "MPI_Get_count").conversions[2], Conversion::Out { large: false });
    }

    #[test]
    fn functions_that_differ_in_more_than_widths_have_a_body_each() {
        let spec = spec();
        for name in ["MPI_Op_create_c", "MPI_Type_get_contents_c", "MPI_Type_get_envelope_c"] {
            assert_eq!(body_of(&spec, name).owner.name, name);
        }
    }

    #[test]
    fn a_removed_function_uses_the_body_of_its_successor() {
        let spec = spec();
        let body = body_of(&spec, "MPI_Type_hvector");
        assert_eq!(body.owner.name, "MPI_Type_create_hvector");
        assert_eq!(body.conversions[2], Conversion::AintToCount);
    }
}
