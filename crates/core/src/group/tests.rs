//! Groups against a naive model: plain lists, searched from the front.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const ME: u32 = 3;

fn group(members: &[u32]) -> Group {
    Group::new(members.iter().copied(), ME)
}

fn members(group: &Group) -> Vec<u32> {
    group.members().collect()
}

fn holds_a_list(group: &Group) -> bool {
    matches!(group.members, Sequence::List(_))
}

#[test]
fn set_operations_keep_the_order_of_the_first_group() {
    let (one, two) = (group(&[4, 3, 1]), group(&[1, 2, 4]));
    assert_eq!(one.union(&two), group(&[4, 3, 1, 2]));
    assert_eq!(one.intersection(&two), group(&[4, 1]));
    assert_eq!(one.difference(&two), group(&[3]));
    assert_eq!((one.rank(), two.rank()), (Some(1), None));
}

#[test]
fn groups_compare_by_members_and_order() {
    assert_eq!(group(&[1, 2]).compare(&group(&[1, 2])), Comparison::Ident);
    assert_eq!(group(&[1, 2]).compare(&group(&[2, 1])), Comparison::Similar);
    assert_eq!(group(&[1, 2, 3]).compare(&group(&[2, 1, 3])), Comparison::Similar);
    assert_eq!(group(&[1, 2]).compare(&group(&[1])), Comparison::Unequal);
}

#[test]
fn a_rank_outside_or_given_twice_is_an_error() {
    let three = group(&[5, 6, 7]);
    assert_eq!(three.include(&[2, 0]).expect("members"), group(&[7, 5]));
    assert_eq!(three.exclude(&[1]).expect("a member"), group(&[5, 7]));
    for ranks in [[0, 3], [0, -1], [1, 1]] {
        assert_eq!(three.include(&ranks).expect_err("bad ranks").class(), ErrorClass::Rank);
        assert_eq!(three.exclude(&ranks).expect_err("bad ranks").class(), ErrorClass::Rank);
    }
    assert_eq!(three.translate(0, &group(&[7])).expect("a member"), None);
    assert_eq!(three.translate(2, &group(&[7])).expect("a member"), Some(0));
    assert_eq!(three.translate(3, &group(&[7])).expect_err("bad rank").class(), ErrorClass::Rank);
}

#[test]
fn the_empty_group_takes_part_in_set_operations_without_hiding_this_process() {
    let empty = Group::empty();
    assert_eq!((empty.size(), empty.rank()), (0, None));
    assert_eq!(empty.union(&group(&[5, ME])).rank(), Some(1));
    assert_eq!(group(&[5, ME]).difference(&empty).rank(), Some(1));
    assert_eq!(empty.compare(&group(&[5]).difference(&group(&[5]))), Comparison::Ident);
}

#[test]
fn groups_of_equal_distances_hold_no_list() {
    const SIZE: i32 = 1_000_000;
    let world = Group::new(0..SIZE as u32, ME);
    let backwards = world.include_ranges(&[[SIZE - 1, 0, -1]]).expect("all ranks");
    let odd = world.include_ranges(&[[1, SIZE - 1, 2]]).expect("odd ranks");
    let quarter = odd.include_ranges(&[[SIZE / 2 - 1, 0, -2]]).expect("half of them");
    let even = world.exclude_ranges(&[[1, SIZE - 1, 2]]).expect("odd ranks");
    let front = world.difference(&world.include_ranges(&[[1000, SIZE - 1, 1]]).expect("all but 1000"));
    let halves = world.include_ranges(&[[0, 9, 1], [10, SIZE - 1, 1]]).expect("all ranks");
    for group in [&world, &backwards, &odd, &quarter, &even, &front, &halves, &odd.intersection(&world)] {
        assert!(!holds_a_list(group), "{:?}", group.members);
    }
    assert_eq!(halves, world);
    assert_eq!(world.compare(&backwards), Comparison::Similar);
    assert_eq!((even.member(5), odd.rank(), even.rank()), (10, Some(1), None));
    assert!(holds_a_list(&odd.union(&even)));
    assert!(size_of::<Group>() <= 32);
}

/// Distinct members in any order, among them ones at equal distances.
fn some_members() -> impl Strategy<Value = Vec<u32>> {
    let any_order = proptest::sample::subsequence((0..24u32).collect::<Vec<_>>(), 0..=24).prop_shuffle();
    let strided = (0..8u32, 1..4usize, any::<bool>()).prop_map(|(first, stride, down)| {
        let up = (first..24).step_by(stride);
        if down { up.rev().collect() } else { up.collect() }
    });
    prop_oneof![any_order, strided]
}

/// Where the model finds a member.
fn find(members: &[u32], member: u32) -> Option<u32> {
    members.iter().position(|&other| other == member).map(|rank| rank as u32)
}

/// The ranks of a triplet, as the standard spells them out.
fn spelled_out([first, last, stride]: [i32; 3]) -> Vec<i32> {
    (0..=(last - first) / stride).map(|step| first + step * stride).collect()
}

/// The model's include and exclude, if each rank is of the group and given once.
fn chosen(members: &[u32], ranks: &[i32]) -> Option<[Vec<u32>; 2]> {
    let legal = |&rank: &i32| (0..members.len() as i32).contains(&rank);
    let once = |(place, rank): (usize, &i32)| !ranks[..place].contains(rank);
    (ranks.iter().all(legal) && ranks.iter().enumerate().all(once)).then(|| {
        let with = ranks.iter().map(|&rank| members[rank as usize]);
        let without = (0..members.len()).filter(|&rank| !ranks.contains(&(rank as i32)));
        [with.collect(), without.map(|rank| members[rank]).collect()]
    })
}

proptest! {
    #[test]
    fn a_group_answers_as_a_list_of_its_members(one in some_members(), two in some_members()) {
        let (first, second) = (group(&one), group(&two));
        prop_assert_eq!(members(&first), &one[..]);
        prop_assert_eq!(first.rank(), find(&one, ME));
        for (rank, &member) in (0..).zip(&one) {
            prop_assert_eq!(first.translate(rank, &second).expect("a rank"), find(&two, member));
        }
        let (mut ones, mut twos) = (one.clone(), two.clone());
        ones.sort_unstable();
        twos.sort_unstable();
        let expected = match (one == two, ones == twos) {
            (true, _) => Comparison::Ident,
            (_, true) => Comparison::Similar,
            _ => Comparison::Unequal,
        };
        prop_assert_eq!(first.compare(&second), expected);
    }

    #[test]
    fn set_operations_are_those_of_lists(one in some_members(), two in some_members()) {
        let (first, second) = (group(&one), group(&two));
        let common: Vec<u32> = one.iter().copied().filter(|member| two.contains(member)).collect();
        let only: Vec<u32> = one.iter().copied().filter(|member| !two.contains(member)).collect();
        let more = two.iter().copied().filter(|member| !one.contains(member));
        let all: Vec<u32> = one.iter().copied().chain(more).collect();
        prop_assert_eq!(members(&first.intersection(&second)), common);
        prop_assert_eq!(members(&first.difference(&second)), only);
        let union = first.union(&second);
        prop_assert_eq!(union.rank(), find(&all, ME));
        // However a group came about, equal members make equal groups.
        prop_assert_eq!(&union, &group(&all));
        prop_assert_eq!(members(&union), all);
    }

    #[test]
    fn ranks_are_chosen_as_from_a_list(one in some_members(), ranks in vec(-1..24i32, 0..6)) {
        let group = group(&one);
        let found = group.include(&ranks).ok().zip(group.exclude(&ranks).ok());
        let found = found.map(|(with, without)| [members(&with), members(&without)]);
        prop_assert_eq!(found, chosen(&one, &ranks));
    }

    #[test]
    fn ranges_choose_the_ranks_that_they_spell_out(
        one in some_members(),
        ends in vec((0..24i32, -3..27i32, 1..5i32), 0..4),
    ) {
        let group = group(&one);
        let towards = |(first, last, step): (i32, i32, i32)| {
            [first, last, if last < first { -step } else { step }]
        };
        let ranges: Vec<[i32; 3]> = ends.into_iter().map(towards).collect();
        let ranks: Vec<i32> = ranges.iter().flat_map(|&range| spelled_out(range)).collect();
        let found = group.include_ranges(&ranges).ok().zip(group.exclude_ranges(&ranges).ok());
        let expected = chosen(&one, &ranks);
        prop_assert_eq!(found.map(|(with, without)| [members(&with), members(&without)]), expected);
    }
}
