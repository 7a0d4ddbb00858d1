//! Ranks on several nodes: what is promised about messages and collectives holds whichever way they go.
//!
//! MPI-5.0: Point-to-Point Communication; Collective Communication.

mod behind;
mod bound;
mod calls;
mod deaths;
mod flow;
mod many;
mod maps;

use oxmpi_fabric::sim::Conduct;

use crate::harness::on_nodes;

/// Each rank on a node of its own.
fn alone(ranks: u32) -> Vec<u32> {
    vec![1; ranks as usize]
}

/// Rank 0 on one node, all others on another.
fn one_apart(ranks: u32) -> Vec<u32> {
    if ranks == 1 { vec![1] } else { vec![1, ranks - 1] }
}

/// Two ranks on a node, at most.
fn in_pairs(ranks: u32) -> Vec<u32> {
    (0..ranks.div_ceil(2)).map(|node| (ranks - 2 * node).min(2)).collect()
}

fn everywhere(test: fn()) {
    on_nodes(alone, Conduct::SMOOTH, test);
    on_nodes(alone, Conduct::ROUGH, test);
    on_nodes(one_apart, Conduct::ROUGH, test);
    on_nodes(in_pairs, Conduct::ROUGH, test);
}

/// Tests of one node that are passed on several, too.
macro_rules! everywhere {
    ($($module:ident::$test:ident,)*) => {
        $(
            #[test]
            fn $test() {
                everywhere(crate::$module::$test);
            }
        )*
    };
}

everywhere! {
    messages::messages_from_one_sender_are_received_in_the_order_they_were_sent,
    messages::receives_that_name_a_sender_or_a_tag_get_what_they_ask_for_in_order,
    messages::a_synchronous_send_is_complete_only_when_a_receive_has_matched,
    messages::many_more_messages_than_the_rings_hold_cross_each_other,
    messages::long_messages_cross_each_other_among_all_ranks,
    messages::a_message_that_is_too_long_is_cut_and_the_next_one_is_whole,
    messages::data_with_gaps_arrive_from_and_in_any_memory,
    planned::each_start_sends_what_the_memory_holds_then,
    planned::nothing_is_written_into_a_receive_that_is_not_started,
    planned::what_was_cancelled_is_started_again,
    planned::what_is_let_go_while_it_is_active_ends_by_itself,
    planned::each_round_that_is_cut_says_so_and_the_next_may_be_whole,
    protocols::a_cancelled_receive_takes_no_message,
    protocols::a_send_that_is_cancelled_in_its_queue_is_never_received,
    protocols::a_send_that_nobody_has_received_is_cancelled_at_the_receiver,
    protocols::a_send_that_is_received_and_cancelled_at_the_same_time_is_one_of_both_on_both_sides,
    protocols::a_detached_operation_goes_on_and_is_then_forgotten,
    protocols::a_probed_message_is_still_there_and_a_taken_one_is_for_its_taker_alone,
    protocols::a_copy_is_what_the_buffer_held_when_it_was_sent,
    partitioned::pairs_with_one_envelope_are_matched_in_the_order_in_which_they_were_made,
    partitioned::requests_that_are_freed_unused_keep_their_place,
    partitioned::what_is_ready_waits_for_the_receive_to_begin,
    partitioned::both_sides_hear_of_unequal_sizes_and_nothing_is_written,
    storms::planned_messages_and_others_keep_their_order_together,
    storms::messages_keep_their_order_that_are_only_shown,
}

// These are long.

#[test]
fn every_algorithm_gives_the_result_on_few_ranks_for_every_root() {
    let test = crate::collectives::every_algorithm_gives_the_result_on_few_ranks_for_every_root;
    on_nodes(alone, Conduct::ROUGH, test);
    on_nodes(in_pairs, Conduct::SMOOTH, test);
}

#[test]
fn every_algorithm_is_started_again_more_often_than_a_channel_is_deep() {
    let test = crate::collectives::every_algorithm_is_started_again_more_often_than_a_channel_is_deep;
    on_nodes(one_apart, Conduct::ROUGH, test);
}

#[test]
fn every_algorithm_carries_vectors_of_many_segments() {
    on_nodes(in_pairs, Conduct::ROUGH, crate::collectives::every_algorithm_carries_vectors_of_many_segments);
}

#[test]
fn partitions_arrive_when_they_are_ready_and_each_round_brings_its_data() {
    let test = crate::partitioned::partitions_arrive_when_they_are_ready_and_each_round_brings_its_data;
    on_nodes(in_pairs, Conduct::ROUGH, test);
}

#[test]
fn messages_keep_their_order_that_fill_frames() {
    on_nodes(alone, flow::MUCH_AT_ONCE, crate::storms::planned_messages_and_others_keep_their_order_together);
    on_nodes(alone, flow::MUCH_AT_ONCE, crate::storms::messages_keep_their_order_that_are_only_shown);
}
