//! Bounds, envelopes and refusals of the constructors.

use oxmpi_base::{BasicType, ErrorClass};
use oxmpi_datatype::{Constructor, Datatype};

fn int() -> Datatype {
    Datatype::basic(BasicType::Int)
}

#[test]
fn every_basic_type_is_committed_and_named_and_has_the_size_of_the_table() {
    for basic in BasicType::ALL {
        let datatype = Datatype::basic(basic);
        assert!(datatype.is_committed());
        assert_eq!(datatype.name(), basic.name());
        assert_eq!(datatype.size(), basic.size() as u64, "{datatype:?}");
        assert_eq!(datatype.extent(), basic.extent() as i64, "{datatype:?}");
        assert_eq!(datatype.is_dense(), basic.is_dense(), "{datatype:?}");
        assert_eq!((datatype.basic_type(), datatype.element()), (Some(basic), Some(basic)));
    }
}

#[test]
fn a_vector_spans_from_its_first_to_its_last_block() {
    let vector = Datatype::vector(3, 2, 5, &int()).expect("small");
    assert_eq!((vector.lower_bound(), vector.extent(), vector.size()), (0, 48, 24));
    let backwards = Datatype::vector(3, 2, -5, &int()).expect("small");
    assert_eq!((backwards.lower_bound(), backwards.extent()), (-40, 48));
}

#[test]
fn resized_bounds_are_kept_by_what_is_made_of_them() {
    let resized = Datatype::resized(-4, 16, &int()).expect("small");
    let three = Datatype::contiguous(3, &resized).expect("small");
    assert_eq!((three.lower_bound(), three.extent()), (-4, 48));
    assert_eq!((three.true_lower_bound(), three.true_extent()), (0, 36));
}

#[test]
fn what_has_no_elements_has_no_bounds() {
    let empty = Datatype::contiguous(0, &int()).expect("small");
    let far = Datatype::hvector(2, 1, 100, &empty).expect("small");
    assert_eq!((far.size(), far.lower_bound(), far.extent(), far.true_extent()), (0, 0, 0, 0));
}

#[test]
fn a_duplicate_is_committed_if_the_original_is() {
    let contiguous = Datatype::contiguous(2, &int()).expect("small");
    assert!(!contiguous.dup().is_committed());
    contiguous.commit();
    let dup = contiguous.dup();
    assert!(dup.is_committed() && dup.is_dense() && !dup.is_same(&contiguous));
    assert_eq!((dup.basic_type(), dup.element()), (None, Some(BasicType::Int)));
}

#[test]
fn a_datatype_remembers_the_arguments_it_was_made_with() {
    let vector = Datatype::vector(3, 2, -5, &int()).expect("small");
    let Constructor::Vector { count: 3, blocklength: 2, stride: -5, old } = vector.constructor() else {
        panic!("{vector:?}");
    };
    assert_eq!(old.basic_type(), Some(BasicType::Int));
}

#[test]
fn bad_arguments_are_refused_by_name_and_value() {
    let refused = |made: oxmpi_base::Result<Datatype>, class, text: &str| {
        let error = made.expect_err(text);
        assert_eq!(error.class(), class);
        assert!(error.text().contains(text), "{error}");
    };
    refused(Datatype::contiguous(-3, &int()), ErrorClass::Count, "count is -3");
    refused(Datatype::vector(1, -2, 1, &int()), ErrorClass::Arg, "blocklength is -2");
    refused(Datatype::contiguous(i64::MAX, &int()), ErrorClass::Count, "2^63 bytes");
    refused(Datatype::vector(2, 1, i64::MAX, &int()), ErrorClass::Count, "stride is 9223372036854775807");
    refused(Datatype::hvector(3, 1, i64::MAX, &int()), ErrorClass::Count, "9223372036854775807 bytes apart");
    refused(Datatype::resized(i64::MAX, 1, &int()), ErrorClass::Arg, "extent 1");
}
