use super::*;

/// Steps that take `each`, from `begin` until `end`, while nothing comes; the last one.
fn wait(policy: &Policy, begin: u64, end: u64, each: u64) -> Step {
    let mut wait = Wait::default();
    let times = (begin..=end).step_by(each as usize);
    times.map(|now| policy.step(&mut wait, false, policy.crowded, || now)).last().expect("it begins")
}

#[test]
fn who_hears_nothing_asks_more_and_more_seldom_but_again_and_again() {
    let mut silence = Silence::default();
    let begin = 77;
    let asked: Vec<u64> = (0..6_000).filter(|ms| silence.is_to_be_broken(begin + ms * MILLISECOND)).collect();
    assert_eq!(asked[..8], [8, 16, 32, 64, 128, 256, 512, 1024]);
    assert_eq!(asked[8..], [2024, 3024, 4024, 5024]);
}

#[test]
fn what_comes_over_a_network_is_late_by_a_part_of_the_time_for_which_it_was_waited() {
    let mut silence = Silence::default();
    let naps = [0, 1, 32, 64, 256, 100_000].map(|ms| silence.nap(5 + ms * MILLISECOND).as_micros());
    assert_eq!(naps, [100, 100, 1333, 2666, 10_666, 50_000]);
    assert_eq!(Silence::default().nap(7 * MILLISECOND).as_micros(), 100, "it begins when it is noticed");
    let mut silence = Silence::default();
    silence.begin_with(&Wait { since: Some(MILLISECOND), ..Wait::default() });
    assert_eq!(silence.nap(25 * MILLISECOND).as_micros(), 1000, "or with the wait");
}

#[test]
fn with_a_processor_for_each_rank_a_wait_looks_and_then_sleeps() {
    let policy = Policy::new(2, 2);
    assert_eq!(wait(&policy, 0, 200 * MICROSECOND, MICROSECOND), Step::Look);
    assert_eq!(wait(&policy, 0, 202 * MICROSECOND, MICROSECOND), Step::Sleep);
}

#[test]
fn beside_a_network_a_wait_looks_for_a_time_and_not_so_often() {
    let policy = Policy::new(2, 2);
    assert_eq!((policy.looks_beside_fabric(false), policy.looks_beside_fabric(true)), (FEW_LOOKS, 2));
    let mut wait = Wait::new(true);
    let mut step = |moved, now| policy.step(&mut wait, moved, false, || now);
    (0..LEAST_STEPS).for_each(|_| assert_eq!(step(false, 0), Step::Look));
    assert_eq!(step(false, PATIENCE_BESIDE_FABRIC), Step::Look);
    assert_eq!(step(false, PATIENCE_BESIDE_FABRIC + 1), Step::Sleep);
    assert_eq!(step(true, 2 * PATIENCE_BESIDE_FABRIC), Step::Look, "something has come");
    (0..LEAST_STEPS).for_each(|_| assert_eq!(step(false, 3 * PATIENCE_BESIDE_FABRIC), Step::Look));
    assert_eq!(step(false, 4 * PATIENCE_BESIDE_FABRIC), Step::Sleep);
}

#[test]
fn ranks_that_sleep_leave_their_processors_to_the_others() {
    let policy = Policy::new(256, 2);
    assert!(policy.is_crowded(|| 3) && !policy.is_crowded(|| 2));
    assert_eq!((policy.looks(true), Policy::new(2, 2).looks(false)), (2, 4000));
    assert!(!Policy::new(2, 2).is_crowded(|| unreachable!("there is a processor for each")));
}

#[test]
fn ranks_of_other_nodes_on_the_same_processors_want_them_too() {
    let policy = Policy::beside(1, 2, 3);
    assert!(policy.is_crowded(|| 1) && !Policy::beside(1, 2, 1).is_crowded(|| 1));
    assert_eq!(wait(&policy, 0, 500 * MICROSECOND, 10 * MICROSECOND), Step::Offer);
}

/// Of three ranks one sleeps, and the others are on one processor: who only looked would keep it from the other one
/// until it slept, too. A barrier took 145 us so.
#[test]
fn who_is_awake_offers_its_processor_though_there_is_another_one() {
    let policy = Policy::new(3, 2);
    assert!(!policy.is_crowded(|| 2) && policy.looks(false) < 100);
    assert_eq!(policy.step(&mut Wait::default(), false, false, || 0), Step::Offer);
}

#[test]
fn with_fewer_processors_it_offers_its_own_first() {
    let policy = Policy::new(3, 2);
    assert_eq!(wait(&policy, 0, 500 * MICROSECOND, 10 * MICROSECOND), Step::Offer);
    assert_eq!(wait(&policy, 0, 650 * MICROSECOND, 10 * MICROSECOND), Step::Sleep);
    assert_eq!(wait(&policy, 0, 1500 * MICROSECOND, 100 * MICROSECOND), Step::Offer, "each takes long");
}

#[test]
fn the_more_ranks_the_longer_each_sleeps_but_not_beyond_a_second() {
    let naps = [2, 64, 128, 256, 1000].map(|ranks| Policy::new(ranks, 2).nap(false).as_millis());
    assert_eq!(naps, [250, 250, 500, 1000, 1000]);
    assert_eq!(Policy::new(1000, 2).nap(true).as_millis(), 250);
}

#[test]
fn what_comes_makes_patient_again_and_a_vain_sleep_does_not() {
    let policy = Policy::new(3, 2);
    let mut wait = Wait::default();
    let mut step = |moved, now| policy.step(&mut wait, moved, true, || now);
    for _ in 0..LEAST_STEPS {
        assert_eq!(step(false, MICROSECOND), Step::Offer);
    }
    assert_eq!(step(false, MILLISECOND), Step::Sleep);
    assert_eq!(step(false, 2 * MILLISECOND), Step::Sleep);
    assert_eq!(step(true, 3 * MILLISECOND), Step::Offer);
}

#[test]
fn beside_a_network_a_short_wait_is_not_slept_through_for_strangers() {
    let policy = Policy::new(2, 2);
    policy.waited(MILLISECOND, 2 * ENOUGH);
    let mut wait = Wait::new(true);
    let mut step = |now| policy.step(&mut wait, false, false, || now);
    assert_eq!([MILLISECOND, MILLISECOND + YIELDS_BESIDE_FABRIC].map(&mut step), [Step::Look; 2]);
    assert_eq!(step(MILLISECOND + YIELDS_BESIDE_FABRIC + 1), Step::Sleep);
    assert_eq!(first_step(&policy, MILLISECOND), Step::Sleep, "on a node it is woken");
    let policy = Policy::beside(1, 1, 1);
    let now = lose_a_slice(&policy, lose_a_slice(&policy, 0));
    assert_eq!(policy.step(&mut Wait::new(true), false, true, || now), Step::Sleep, "an offer costs more");
}

/// A thousandth of ten seconds, of which this rank is told when it has to wait for once.
#[test]
fn a_slice_in_a_long_time_tells_of_nobody() {
    let policy = Policy::new(2, 2);
    policy.waited(10_000 * MILLISECOND, ENOUGH + MILLISECOND);
    assert_eq!(first_step(&policy, 10_000 * MILLISECOND), Step::Look);
}

/// Offers the processor at `now` and is back after a slice of 3 ms; when that is.
fn lose_a_slice(policy: &Policy, now: u64) -> u64 {
    let back = now + 3 * MILLISECOND;
    policy.offered(now, back, || false, || None);
    back
}

fn first_step(policy: &Policy, now: u64) -> Step {
    policy.step(&mut Wait::default(), false, policy.crowded, || now)
}

#[test]
fn beside_strangers_it_sleeps_at_once_until_they_are_forgotten() {
    let policy = Policy::new(3, 2);
    let now = lose_a_slice(&policy, 0);
    assert_eq!(first_step(&policy, now), Step::Offer, "a slice now and then is no matter");
    let now = lose_a_slice(&policy, now);
    assert_eq!(first_step(&policy, now), Step::Sleep);
    assert_eq!(first_step(&policy, now + SHORT_MEMORY - 1), Step::Sleep);
    assert_eq!(first_step(&policy, now + SHORT_MEMORY), Step::Offer);
}

#[test]
fn most_offers_are_free_until_strangers_are_met() {
    let policy = Policy::new(3, 2);
    let free = || (0..).find(|_| !policy.takes_free_offer()).expect("some time they are used up");
    assert_eq!(free(), 0, "the first one is timed");
    for now in 0..3 {
        policy.offered(now, now + 1, || false, || None);
        assert!(policy.has_free_offers());
        assert_eq!(free(), FREE_OFFERS);
    }
    let unread = || -> u64 { unreachable!("the clock") };
    assert_eq!(policy.direct_from_bytes(unread), u64::MAX);
    let now = lose_a_slice(&policy, 0);
    let timed = (0..).find(|_| {
        policy.offered(now, now + 1, || false, || None);
        free() != 0
    });
    assert!(timed.is_some_and(|timed| (WATCHED_OFFERS - 2..=WATCHED_OFFERS).contains(&timed)), "{timed:?}");
}

#[test]
fn looks_of_calls_that_do_not_wait_offer_the_processor_once_in_a_while() {
    let policy = Policy::new(3, 2);
    let mut vain = VainLooks::default();
    let mut offers = |looks| policy.offers_after(&mut vain, looks);
    let offered: Vec<bool> = (0..2 * LOOKS_PER_OFFER).map(|_| offers(1)).collect();
    assert_eq!(offered.iter().filter(|&&offered| offered).count(), 2);
    assert!(offered[LOOKS_PER_OFFER - 1] && !offers(LOOKS_PER_OFFER - 1) && offers(1));
    assert!(offers(usize::MAX), "who looks at many things has looked often");
}

#[test]
fn with_a_processor_for_each_rank_such_looks_never_offer_it() {
    let policy = Policy::new(2, 2);
    let mut vain = VainLooks::default();
    assert!(!policy.offers_after(&mut vain, LOOKS_PER_OFFER));
    policy.waited(MILLISECOND, 2 * ENOUGH);
    assert_eq!(first_step(&policy, MILLISECOND), Step::Sleep, "strangers are near");
    assert!(!policy.offers_after(&mut vain, LOOKS_PER_OFFER));
}

#[test]
fn many_ranks_to_a_processor_are_not_taken_for_strangers() {
    let policy = Policy::new(8, 2);
    for number in 0..10 {
        lose_a_slice(&policy, 3 * number * MILLISECOND);
    }
    assert_eq!(first_step(&policy, 30 * MILLISECOND), Step::Offer, "three others had a millisecond each");
}

#[test]
fn strangers_that_take_little_change_nothing() {
    let policy = Policy::new(3, 2);
    let mut now = 0;
    for _ in 0..100 {
        now = lose_a_slice(&policy, now) + 20 * MILLISECOND;
        assert_eq!(first_step(&policy, now), Step::Offer);
    }
}

#[test]
fn strangers_that_are_met_again_and_again_are_remembered_longer() {
    let policy = Policy::new(3, 2);
    let mut now = lose_a_slice(&policy, 0);
    let mut memories = Vec::new();
    for _ in 0..7 {
        while !policy.strangers.are_near(now) {
            now = lose_a_slice(&policy, now);
        }
        let memory = (1..).find(|ahead| !policy.strangers.are_near(now + ahead * MILLISECOND));
        now += memory.expect("it ends") * MILLISECOND;
        memories.extend(memory);
    }
    assert_eq!(memories, [20, 40, 80, 160, 320, 500, 500]);
    now = lose_a_slice(&policy, now + 2 * LONG_MEMORY);
    assert_eq!(first_step(&policy, now), Step::Offer, "they had been away");
}

#[test]
fn ranks_of_the_node_that_compute_are_no_strangers() {
    let policy = Policy::new(3, 2);
    for number in 0..10 {
        let now = 3 * number * MILLISECOND;
        policy.offered(now, now + 3 * MILLISECOND, || true, || None);
    }
    assert_eq!(first_step(&policy, 30 * MILLISECOND), Step::Offer);
}

#[test]
fn ranks_that_had_the_processors_are_no_strangers_either() {
    for (share, expected) in [(95, Step::Offer), (80, Step::Sleep)] {
        let policy = Policy::new(3, 2);
        let mut now = 0;
        for _ in 0..5 {
            let back = now + 3 * MILLISECOND;
            policy.offered(now, back, || false, || Some(2 * back * share / 100));
            now = back;
        }
        assert_eq!(first_step(&policy, now), expected, "{share} percent");
    }
}

#[test]
fn with_a_processor_of_its_own_a_rank_that_waits_for_it_has_company() {
    let policy = Policy::new(2, 2);
    let mut now = 10 * MILLISECOND;
    assert!(policy.asks_for_waiting(now));
    for _ in 0..5 {
        now += 2 * MILLISECOND;
        policy.waited(now, 100 * MICROSECOND);
        assert!(!policy.asks_for_waiting(now));
    }
    assert_eq!(policy.direct_from_bytes(|| now), u64::MAX);
    for _ in 0..5 {
        now += 2 * MILLISECOND;
        policy.waited(now, 3 * MILLISECOND / 2);
    }
    assert_eq!((first_step(&policy, now), policy.direct_from_bytes(|| now)), (Step::Sleep, 8 << 20));
}

#[test]
fn long_messages_are_read_directly_beside_strangers_only() {
    let policy = Policy::new(3, 2);
    assert_eq!(policy.direct_from_bytes(|| 0), u64::MAX);
    let first = lose_a_slice(&policy, 0);
    let now = lose_a_slice(&policy, first);
    assert_eq!(policy.direct_from_bytes(|| now), 256 << 10);
    assert_eq!(policy.direct_from_bytes(|| now + SHORT_MEMORY), u64::MAX);
}
