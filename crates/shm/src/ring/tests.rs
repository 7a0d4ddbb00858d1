use super::*;

fn bytes(region: &Region) -> Vec<u8> {
    region.to_vec()
}

#[test]
fn short_and_long_messages_arrive_in_order_with_their_payload() {
    let (mut sender, mut receiver) = testing::ring(8, 4096);
    let (mut seen, rounds) = (0, if cfg!(miri) { 30 } else { 999 });
    for round in 0u64..rounds {
        let len = (round * 37 % 1025) as usize;
        let data = vec![round as u8; len];
        let room = sender.room(len).expect("the receiver keeps up");
        room.payload.write(&data);
        room.send(Header { token: round, ..Header::default() });
        if round % 3 == 2 {
            while let Some(arrival) = receiver.arrival() {
                assert_eq!(arrival.header.token, seen);
                assert_eq!(bytes(&arrival.payload), vec![seen as u8; (seen * 37 % 1025) as usize]);
                receiver.release(&arrival);
                seen += 1;
            }
        }
    }
    assert_eq!(seen, rounds);
}

#[test]
fn a_full_ring_has_no_room_until_a_message_is_released() {
    let (mut sender, mut receiver) = testing::ring(2, 1024);
    sender.room(0).expect("empty").send(Header::default());
    sender.room(4).expect("half full").send(Header::default());
    assert!(sender.room(0).is_none());
    let arrival = receiver.arrival().expect("two are there");
    receiver.release(&arrival);
    assert!(sender.room(0).is_some());
}

#[test]
fn a_full_bulk_has_no_room_though_cells_are_free() {
    let (mut sender, mut receiver) = testing::ring(16, 1024);
    for _ in 0..4 {
        sender.room(256).expect("a quarter each").send(Header::default());
    }
    assert!(sender.room(200).is_none());
    assert!(sender.room(CELL_BYTES).is_some());
    let arrival = receiver.arrival().expect("four are there");
    receiver.release(&arrival);
    assert!(sender.room(200).is_some());
}

#[test]
fn pieces_may_be_longer_than_messages_that_are_sent_whole() {
    let (mut sender, _receiver) = testing::ring(8, 4 * RingSize::LARGEST_PIECE);
    assert_eq!(sender.largest_payload(), RingSize::LARGEST_PAYLOAD);
    assert_eq!(sender.eager_below(), RingSize::LARGEST_PAYLOAD as u64 + 1);
    assert!(!sender.takes(RingSize::LARGEST_PIECE + 1));
    for _ in 0..4 {
        sender.room(RingSize::LARGEST_PIECE).expect("a quarter each").send(Header::default());
    }
    assert!(sender.room(200).is_none());
}

#[test]
fn where_there_is_room_for_pieces_all_of_them_can_be_sent() {
    let (mut sender, mut receiver) = testing::ring(8, 4096);
    let largest = sender.largest_payload();
    let (mut went, rounds) = ([0, 0], if cfg!(miri) { 50 } else { 2000 });
    for round in 0..rounds {
        let bytes = 1 + round * 613 % (3 * largest);
        let has_room = sender.has_room_for_pieces(bytes);
        went[usize::from(has_room)] += 1;
        for begin in (0..bytes).step_by(largest).filter(|_| has_room) {
            let room = sender.room(largest.min(bytes - begin)).expect("there is room for all");
            room.send(Header::default());
        }
        for _ in 0..round % 3 {
            receiver.arrival().inspect(|arrival| receiver.release(arrival));
        }
    }
    assert!(went.iter().all(|&times| times > rounds / 10), "{went:?}");
    while let Some(arrival) = receiver.arrival() {
        receiver.release(&arrival);
    }
    assert!(sender.has_room_for_pieces(3 * largest));
    assert!(!sender.has_room_for_pieces(4 * largest), "what is skipped at the wrap may be missing");
}

#[test]
fn a_payload_never_wraps_around_the_end_of_the_bulk() {
    let (mut sender, mut receiver) = testing::ring(4, 1024);
    for round in 0..50u8 {
        let room = sender.room(200).expect("one at a time");
        room.payload.write(&[round; 200]);
        room.send(Header::default());
        let arrival = receiver.arrival().expect("just sent");
        assert_eq!(bytes(&arrival.payload), vec![round; 200]);
        receiver.release(&arrival);
    }
}

#[test]
fn a_length_or_place_that_a_broken_peer_made_up_stays_inside_the_ring() {
    for end in [0, 64, 1000, u64::MAX - 1, u64::MAX] {
        for bytes in [0, 81, 1025, 1 << 40, u64::MAX] {
            let (mut sender, mut receiver) = testing::ring(2, 1024);
            sender.room(100).expect("empty").send(Header::default());
            let note = payload_of(&receiver.cells[0]);
            note.write(&end.to_ne_bytes());
            note.part(8, 8).write(&bytes.to_ne_bytes());
            let arrival = receiver.arrival().expect("just sent");
            assert!(arrival.payload.to_vec().len() as u64 <= bytes.min(1024));
            receiver.release(&arrival);
        }
    }
}

#[test]
fn credit_that_a_broken_peer_made_up_gives_no_room_that_is_not_there() {
    for credit in [2, 1 << 40, u64::MAX] {
        let (mut sender, receiver) = testing::ring(2, 1024);
        for _ in 0..2 {
            sender.room(256).expect("empty").send(Header::default());
        }
        receiver.credit.cells.store(credit, Ordering::Relaxed);
        receiver.credit.bulk.store(credit, Ordering::Relaxed);
        for _ in 0..10 {
            if let Some(room) = sender.room(256) {
                room.send(Header::default());
            }
        }
    }
}
