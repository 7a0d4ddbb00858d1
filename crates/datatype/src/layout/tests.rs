//! What is found regular, and where the bytes of irregular layouts lie.

use super::*;

fn rows(displacements: impl IntoIterator<Item = i64>) -> Layout {
    Layout::sequence(displacements.into_iter().map(|displacement| Layout::run(displacement, 8)))
}

#[test]
fn touching_runs_become_one() {
    let row = Layout::run(4, 8).repeat(10, 8);
    assert!(matches!((&row.shape, row.displacement, row.bytes), (Shape::Run, 4, 80)));
    let listed = rows((0..100).map(|row| 8 * row));
    assert!(matches!((&listed.shape, listed.bytes), (Shape::Run, 800)));
}

#[test]
fn a_loop_of_loops_with_one_stride_becomes_one_loop() {
    let outer = Layout::run(0, 8).repeat(10, 16).repeat(1000, 160);
    assert!(matches!(outer.shape, Shape::Loop { count: 10_000, stride: 16, .. }));
    assert_eq!(outer.bytes, 80_000);
}

#[test]
fn what_is_empty_leaves_no_loop() {
    let nothing = Layout::run(0, 8).repeat(0, 8).repeat(5, 8);
    assert!(matches!((&nothing.shape, nothing.bytes), (Shape::Run, 0)));
}

#[test]
fn listed_rows_of_planes_become_a_loop_of_loops() {
    let cube = rows((0..20).flat_map(|plane| (0..50).map(move |row| 10_000 * plane + 16 * row)));
    let Shape::Loop { count: 20, stride: 10_000, body } = &cube.shape else { panic!("{cube:?}") };
    assert!(matches!(body.shape, Shape::Loop { count: 50, stride: 16, .. }));
}

#[test]
fn a_regular_stretch_among_irregular_runs_becomes_a_loop() {
    let mixed = rows([7000, 5, 3000].into_iter().chain((0..100).map(|row| 10_000 + 24 * row)).chain([1]));
    let Shape::Sequence(parts) = &mixed.shape else { panic!("{mixed:?}") };
    assert_eq!(parts.len(), 5);
    assert!(matches!(parts[3].layout.shape, Shape::Loop { count: 100, stride: 24, .. }));
    assert_eq!(mixed.run_at(8 * 102 + 3), (10_000 + 24 * 99 + 3, 5));
    assert_eq!(mixed.run_at(8 * 103), (1, 8));
}

#[test]
fn a_few_short_runs_are_the_element_of_a_loop() {
    let few = Layout::run(0, 8).repeat(3, 24);
    let many = few.repeat(1000, 100);
    let Shape::Loop { count: 1000, stride: 100, body } = &many.shape else { panic!("{many:?}") };
    let Shape::Runs(runs) = &body.shape else { panic!("{body:?}") };
    assert_eq!((runs.runs.len(), runs.block_bytes), (3, Some(8)));
    assert_eq!(many.run_at(24 * 999 + 20), (99_900 + 52, 4));
}

#[test]
fn sequences_nested_deeply_stay_flat() {
    let mut nested = Layout::run(0, 4);
    for _ in 0..10_000 {
        nested = Layout::sequence([Layout::run(0, 4), nested.moved(5)]);
    }
    assert_eq!(nested.bytes, 40_004);
    assert_eq!(nested.run_at(40_000), (50_000, 4));
}

#[test]
fn a_loop_is_continued_by_one_of_the_same_stride_only() {
    let row = |count: u64, stride: i64| Layout::run(0, 8).repeat(count, stride);
    let continued = Layout::sequence([row(20, 16), row(5, 16).moved(320)]);
    assert!(matches!(continued.shape, Shape::Loop { count: 25, stride: 16, .. }), "{continued:?}");
    let other = Layout::sequence([row(20, 16), row(20, 24).moved(320)]);
    assert_eq!((other.bytes, other.run_at(21 * 8)), (320, (320 + 24, 8)));
}
