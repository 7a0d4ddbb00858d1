//! Bounds, envelopes and refusals of the constructors.

use oxmpi_base::{BasicType, ErrorClass};
use oxmpi_datatype::{Constructor, Darray, Datatype, Distribution, Order, Subarray};

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
fn a_structure_is_padded_to_the_strictest_alignment() {
    let types = [BasicType::Double, BasicType::Int].map(Datatype::basic).to_vec();
    let padded = Datatype::structure(vec![1, 1], vec![0, 8], types).expect("small");
    assert_eq!((padded.size(), padded.extent(), padded.true_extent()), (12, 16, 12));
    let odd = Datatype::hvector(2, 1, 5, &int()).expect("small");
    assert_eq!((odd.extent(), odd.true_extent()), (12, 9), "the definition says so of every typemap");
}

#[test]
fn where_there_are_markers_nothing_else_bounds() {
    let resized = Datatype::resized(0, 5, &int()).expect("small");
    let types = vec![resized, Datatype::basic(BasicType::Char)];
    let bounded = Datatype::structure(vec![1, 1], vec![0, 9], types).expect("small");
    assert_eq!((bounded.lower_bound(), bounded.extent(), bounded.true_extent()), (0, 5, 10));
}

#[test]
fn a_part_of_an_array_has_the_extent_of_the_array() {
    let part = |order| Subarray { sizes: vec![4, 6], subsizes: vec![2, 3], starts: vec![1, 2], order };
    let rows = Datatype::subarray(part(Order::C), &int()).expect("small");
    assert_eq!((rows.size(), rows.extent(), rows.true_lower_bound(), rows.true_extent()), (24, 96, 32, 36));
    let columns = Datatype::subarray(part(Order::Fortran), &int()).expect("small");
    assert_eq!((columns.extent(), columns.true_lower_bound(), columns.true_extent()), (96, 36, 40));
}

#[test]
fn fortran_kinds_are_the_least_that_represent_enough() {
    let basic = |made: oxmpi_base::Result<Datatype>| {
        let datatype = made.expect("there is such a kind");
        assert!(datatype.is_committed());
        datatype.basic_type()
    };
    assert_eq!(basic(Datatype::f90_real(Some(6), None)), Some(BasicType::Real));
    assert_eq!(basic(Datatype::f90_real(Some(6), Some(38))), Some(BasicType::DoublePrecision));
    assert_eq!(basic(Datatype::f90_complex(None, Some(308))), Some(BasicType::CLongDoubleComplex));
    assert_eq!(basic(Datatype::f90_real(Some(33), Some(4931))), Some(BasicType::Real16));
    assert_eq!(basic(Datatype::f90_integer(10)), Some(BasicType::Integer8));
}

#[test]
fn blocks_that_are_not_there_may_be_as_large_and_as_far_away_as_one_likes() {
    let far = i64::MAX / 2;
    let empty = [
        Datatype::vector(0, far, far, &int()),
        Datatype::vector(far, 0, far, &int()),
        Datatype::hvector(0, far, far, &int()),
        Datatype::indexed(vec![0, 0], vec![far, -far], &int()),
        Datatype::indexed_block(0, vec![far], &int()),
        Datatype::structure(vec![0], vec![far], vec![int()]),
    ];
    for datatype in empty {
        let datatype = datatype.expect("it has no elements");
        assert_eq!((datatype.size(), datatype.lower_bound(), datatype.extent()), (0, 0, 0), "{datatype:?}");
    }
    let one = Datatype::vector(1, 3, far, &int()).expect("no second block");
    assert_eq!((one.size(), one.extent()), (12, 12));
    let one = Datatype::indexed(vec![0, 3], vec![far, 2], &int()).expect("no first block");
    assert_eq!((one.size(), one.lower_bound(), one.extent()), (12, 8, 12));
}

#[test]
fn pairs_without_a_name_lie_as_in_a_structure_of_c() {
    let bounds = |value, index| {
        let pair = Datatype::value_index(value, index);
        assert!(pair.is_committed() && pair.is_predefined() && pair.basic_type().is_none());
        assert_eq!(pair.value_and_index(), Some([value, index]));
        assert_eq!((pair.lower_bound(), pair.true_lower_bound()), (0, 0));
        (pair.size(), pair.extent(), pair.true_extent(), pair.typemap().last())
    };
    let (short, double, char_, count) =
        (BasicType::Short, BasicType::Double, BasicType::SignedChar, BasicType::Count);
    assert_eq!(bounds(double, count), (16, 16, 16, Some((count, 8))));
    assert_eq!(bounds(short, count), (10, 16, 16, Some((count, 8))));
    assert_eq!(bounds(double, short), (10, 16, 10, Some((short, 8))));
    assert_eq!(bounds(char_, short), (3, 4, 4, Some((short, 2))));
}

#[test]
fn a_datatype_nested_a_million_times_is_dropped_without_overflowing_the_stack() {
    let mut nested = int();
    for _ in 0..1_000_000 {
        nested = nested.dup();
    }
    drop(nested);
}

#[test]
fn structures_are_nested_as_deep_as_the_stack_allows_and_no_deeper() {
    let kinds = [BasicType::Char, BasicType::Double].map(Datatype::basic);
    let around = |level: usize, old: &Datatype| {
        Datatype::structure(vec![1, 1], vec![0, 16], vec![kinds[level % 2].clone(), old.clone()])
    };
    let mut nested = int();
    for level in 0..1000 {
        nested = around(level, &nested).expect("not too deep");
    }
    nested.commit();
    assert_eq!(nested.elements_in(nested.size()), Some(1001));
    assert_eq!(nested.typemap().last(), Some((BasicType::Int, 16_000)));
    let error = around(0, &nested).expect_err("too deep");
    assert_eq!(error.class(), ErrorClass::Type);
    assert!(error.text().contains("1000 deep"), "{error}");
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
    let blocks = |lengths: Vec<i64>| Datatype::hindexed(lengths, vec![0, 8], &int());
    refused(blocks(vec![1, -1]), ErrorClass::Arg, "array_of_blocklengths[1] is -1");
    refused(blocks(vec![1, i64::MAX]), ErrorClass::Count, "");
    refused(Datatype::indexed_block(-1, vec![], &int()), ErrorClass::Arg, "blocklength is -1");
    refused(Datatype::indexed_block(1, vec![i64::MAX], &int()), ErrorClass::Count, "array_of_displacements");
    let apart = vec![i64::MIN, i64::MAX - 4];
    refused(Datatype::hindexed_block(1, apart, &int()), ErrorClass::Count, "further than 64 bits");
    refused(Datatype::f90_real(None, None), ErrorClass::Arg, "MPI_UNDEFINED");
    refused(Datatype::f90_complex(Some(34), None), ErrorClass::Arg, "p is 34");
    refused(Datatype::f90_integer(39), ErrorClass::Arg, "r is 39");
}

#[test]
fn bad_parts_of_arrays_are_refused_by_name_and_value() {
    let subarray = |size: i64, subsize: i64, start: i64, text: &str| {
        let (sizes, subsizes, starts) = (vec![3, size], vec![3, subsize], vec![0, start]);
        let error = Datatype::subarray(Subarray { sizes, subsizes, starts, order: Order::C }, &int());
        let error = error.expect_err(text);
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(error.text().contains(text), "{error}");
    };
    subarray(0, 1, 0, "array_of_sizes[1] is 0");
    subarray(4, 0, 0, "array_of_subsizes[1] is 0");
    subarray(4, 5, 0, "array_of_subsizes[1] is 5");
    subarray(4, 1, -1, "array_of_starts[1] is -1");
    subarray(4, 2, 3, "array_of_subsizes[1] is 2: from 3");
    let none = Subarray { sizes: vec![], subsizes: vec![], starts: vec![], order: Order::C };
    assert_eq!(Datatype::subarray(none, &int()).expect_err("ndims is 0").class(), ErrorClass::Arg);
    let sizes = vec![1 << 40, 1 << 40];
    let huge = Subarray { subsizes: vec![1, 1], starts: vec![0, 0], sizes, order: Order::C };
    assert_eq!(Datatype::subarray(huge, &int()).expect_err("2^82 bytes").class(), ErrorClass::Count);
}

#[test]
fn a_datatype_made_anew_has_the_same_contents_and_a_name_of_its_own() {
    let pair = Datatype::contiguous(2, &int()).expect("small").with_large_counts();
    pair.set_name("pair");
    pair.commit();
    let again = pair.anew();
    assert!(again.has_large_counts() && !again.is_committed() && !again.is_same(&pair));
    assert!(again.constructor().olds()[0].basic_type() == Some(BasicType::Int));
    assert_eq!((again.name().is_empty(), again.extent()), (true, 8));
    assert!(!int().has_large_counts() && int().constructor().olds().is_empty());
}

#[test]
fn bad_grids_are_refused_by_name_and_value() {
    let good = Darray {
        size: 4,
        rank: 3,
        gsizes: vec![8, 9],
        distributions: vec![Distribution::Block, Distribution::None],
        dargs: vec![Some(2), None],
        psizes: vec![4, 1],
        order: Order::C,
    };
    assert_eq!(Datatype::darray(good.clone(), &int()).expect("a good grid").size(), 4 * 2 * 9);
    let ignored = Darray { dargs: vec![Some(2), Some(0)], ..good.clone() };
    assert_eq!(Datatype::darray(ignored, &int()).expect("its dimension is not dealt").size(), 4 * 2 * 9);
    let refused = |change: &dyn Fn(&mut Darray), text: &str| {
        let mut bad = good.clone();
        change(&mut bad);
        let error = Datatype::darray(bad, &int()).expect_err(text);
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(error.text().contains(text), "{error}");
    };
    refused(&|grid| grid.size = 0, "size is 0");
    refused(&|grid| grid.size = 5, "size is 5");
    refused(&|grid| grid.rank = 4, "rank is 4");
    refused(&|grid| grid.rank = -1, "rank is -1");
    refused(&|grid| grid.gsizes[1] = 0, "array_of_gsizes[1] is 0");
    refused(&|grid| grid.psizes[0] = -4, "array_of_psizes[0] is -4");
    refused(&|grid| grid.dargs[0] = Some(0), "array_of_dargs[0] is 0");
    refused(&|grid| grid.dargs[0] = Some(1), "array_of_dargs[0] is 1");
    refused(&|grid| grid.psizes = vec![2, 2], "array_of_psizes[1] is 2");
}
