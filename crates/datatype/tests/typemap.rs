//! What datatypes say about themselves, against a naive reading of the typemap.

mod naive;

use proptest::prelude::*;

use naive::strategies::any_datatype;

proptest! {
    #[test]
    fn typemap_and_signature_are_the_naive_ones(datatype in any_datatype()) {
        let expected = naive::elements(&datatype, 1);
        prop_assert_eq!(datatype.typemap().collect::<Vec<_>>(), &expected[..]);
        let spelled = datatype.signature().flat_map(|(basic, run)| (0..run).map(move |_| basic));
        prop_assert!(spelled.eq(expected.iter().map(|(basic, _)| *basic)));
        let first = expected.first().map(|(basic, _)| *basic);
        if let Some(first) = first {
            let uniform = expected.iter().all(|(basic, _)| *basic == first);
            prop_assert_eq!(datatype.element(), uniform.then_some(first));
        }
    }

    #[test]
    fn size_and_bounds_are_those_of_the_typemap(datatype in any_datatype()) {
        let size = naive::bytes(&datatype, 1).len();
        prop_assert_eq!(datatype.size(), size as u64);
        let (lower, upper) = naive::bounds(&datatype);
        prop_assert_eq!((datatype.lower_bound(), datatype.extent()), (lower, upper - lower));
        let (lower, upper) = naive::true_bounds(&datatype);
        prop_assert_eq!((datatype.true_lower_bound(), datatype.true_extent()), (lower, upper - lower));
    }

    #[test]
    fn dense_means_one_run_for_any_count(datatype in any_datatype()) {
        if datatype.size() != 0 {
            let one_run = naive::bytes(&datatype, 3).into_iter().eq(0..3 * datatype.size() as i64);
            prop_assert_eq!(datatype.is_dense(), one_run);
        }
    }

    #[test]
    fn elements_are_counted_where_basic_elements_end(datatype in any_datatype()) {
        let mut ends = vec![0];
        for (basic, _) in naive::elements(&datatype, 2) {
            let last = ends[ends.len() - 1];
            if basic.index_offset() != 0 {
                let index_bytes = if basic.size() == 16 { 8 } else { 4 };
                ends.push(last + basic.size() as u64 - index_bytes);
            }
            ends.push(last + basic.size() as u64);
        }
        let received = ends[ends.len() - 1];
        for bytes in 0..=received {
            let elements = ends.iter().position(|end| *end == bytes).map(|index| index as u64);
            prop_assert_eq!(datatype.elements_in(bytes), elements, "{} bytes", bytes);
            if let Some(elements) = elements {
                prop_assert_eq!(datatype.bytes_of_elements(elements), Some(bytes));
            }
        }
    }
}
