use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;

/// Any bytes: names of files and variables need not be text.
fn words() -> impl Strategy<Value = OsString> {
    vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
}

fn block() -> impl Strategy<Value = Block> {
    let place = (option::of(words()), option::of(words()), vec(".{0,8}", 0..3));
    (words(), vec(words(), 0..4), any::<u32>(), place, vec((words(), words()), 0..3)).prop_map(
        |(command, arguments, max_procs, (dir, path, hosts), environment)| Block {
            command,
            arguments,
            max_procs,
            dir: dir.map(PathBuf::from),
            path,
            hosts,
            environment,
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let spawn = (any::<u32>(), vec(block(), 0..4), ".{0,40}");
    prop_oneof![
        any::<i32>().prop_map(|code| Request::Abort { code }),
        (".{0,40}", ".{0,40}").prop_map(|(service, port)| Request::Publish { service, port }),
        Just(Request::Segment),
        spawn.prop_map(|(rank, blocks, parent_port)| Request::Spawn(Spawn { rank, blocks, parent_port })),
        ".{0,40}".prop_map(|service| Request::Unpublish { service }),
        Just(Request::Fence),
        Just(Request::Tree),
        ".{0,40}".prop_map(|service| Request::Lookup { service }),
        ".{0,40}".prop_map(|key| Request::Get { key }),
        (".{0,40}", vec(any::<u8>(), 0..40)).prop_map(|(key, record)| Request::Put { key, record }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        Just(Answer::Done),
        ".{0,40}".prop_map(|text| Answer::Failed { text }),
        (".{0,40}", ".{0,40}").prop_map(|(service, port)| Answer::Published { service, port }),
        any::<u64>().prop_map(|job| Answer::Spawned { job }),
        (".{0,40}", ".{0,40}").prop_map(|(address, secret)| Answer::Tree { address, secret }),
        ".{0,40}".prop_map(|text| Answer::Ended { text }),
        vec(any::<u8>(), 0..40).prop_map(|record| Answer::Record { record }),
    ]
}

#[test]
fn a_length_beyond_the_end_takes_no_memory() {
    let mut bytes = Request::Spawn(Spawn::default()).encode();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(Request::decode(&bytes), Err(Malformed));
}

proptest! {
    #[test]
    fn requests_round_trip(request in request()) {
        prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
    }

    #[test]
    fn answers_round_trip(answer in answer()) {
        prop_assert_eq!(Answer::decode(&answer.encode()), Ok(answer));
    }

    #[test]
    fn a_message_that_is_cut_or_goes_on_is_malformed(
        request in request(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = request.encode();
        prop_assert_eq!(Request::decode(&bytes[..cut.index(bytes.len())]), Err(Malformed));
        bytes.push(0);
        prop_assert_eq!(Request::decode(&bytes), Err(Malformed));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..100)) {
        let _ = (Request::decode(&bytes), Answer::decode(&bytes));
    }

    #[test]
    fn no_damage_makes_a_reader_panic(
        request in request(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = request.encode();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(request) = Request::decode(&bytes) {
            prop_assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
    }
}
