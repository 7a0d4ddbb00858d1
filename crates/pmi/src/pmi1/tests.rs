use std::collections::BTreeMap;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use proptest::prelude::*;

use super::*;

/// A launcher of `size` processes that speaks as Hydra does: one thread for each, until all have said that they leave.
fn launcher(size: u32, mapping: &str, value_bytes: usize) -> Vec<UnixStream> {
    let store =
        Arc::new(Mutex::new(BTreeMap::from([("PMI_process_mapping".to_owned(), mapping.to_owned())])));
    let barrier = Arc::new(Barrier::new(size as usize));
    let serve = |_| {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let (store, barrier) = (store.clone(), barrier.clone());
        thread::spawn(move || {
            let mut lines = BufReader::new(ours.try_clone().expect("a descriptor"));
            let mut text = String::new();
            while lines.read_line(&mut text).is_ok_and(|bytes| bytes > 0) {
                let line = Line::parse(&text).expect("a client says lines");
                let key = || line.get("key").expect("a key").to_owned();
                let answer = match line.command() {
                    "init" => "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0".to_owned(),
                    "get_maxes" => format!("cmd=maxes kvsname_max=64 keylen_max=64 vallen_max={value_bytes}"),
                    "get_my_kvsname" => "cmd=my_kvsname kvsname=kvs_1".to_owned(),
                    "barrier_in" => {
                        barrier.wait();
                        "cmd=barrier_out rc=0".to_owned()
                    }
                    "put" => {
                        let value = line.get("value").expect("a value");
                        assert!(value.len() < value_bytes && key().len() < 64, "{line}");
                        store.lock().expect("nobody panics").insert(key(), value.to_owned());
                        "cmd=put_result rc=0 msg=success".to_owned()
                    }
                    "get" => match store.lock().expect("nobody panics").get(&key()) {
                        Some(value) => format!("cmd=get_result rc=0 msg=success value={value}"),
                        None => format!("cmd=get_result rc=-1 msg=key_{}_not_found value=unknown", key()),
                    },
                    "finalize" => "cmd=finalize_ack rc=0".to_owned(),
                    other => panic!("nobody should say {other}"),
                };
                (&ours).write_all(format!("{answer}\n").as_bytes()).expect("it listens");
                text.clear();
            }
        });
        theirs
    };
    (0..size).map(serve).collect()
}

fn clients(size: u32, mapping: &str, value_bytes: usize) -> Vec<Pmi1> {
    let streams = launcher(size, mapping, value_bytes);
    (0..).zip(streams).map(|(rank, stream)| Pmi1::greet(stream, rank, size).expect("it speaks")).collect()
}

#[test]
fn records_of_any_length_are_told_in_pieces() {
    let [mut one, mut other] = clients(2, "(vector,(0,2,1))", 128).try_into().expect("two");
    assert_eq!(other.place, Place { rank: 1, nodes: NodeMap::of([0, 1]) });
    thread::scope(|scope| {
        scope.spawn(|| {
            one.put("none", &[]).expect("it is taken");
            one.put("long", &[0xa5; 5000]).expect("it is taken");
            one.fence().expect("both come");
            one.leave();
            one.leave();
        });
        other.fence().expect("both come");
        assert_eq!(other.get("none", 0).expect("it was put"), []);
        assert_eq!(other.get("long", 0).expect("it was put"), [0xa5; 5000]);
        let error = other.get("other", 0).expect_err("nobody has put it");
        assert!(error.text().contains("not_found"), "{error:?}");
        other.leave();
    });
}

#[test]
fn a_launcher_that_tells_no_nodes_or_goes_is_an_error() {
    let stream = launcher(2, "(nothing)", 1024).remove(0);
    let error = Pmi1::greet(stream, 0, 2).expect_err("where are they?");
    assert!(error.to_string().contains("(nothing)"), "{error}");
    let (stream, other) = UnixStream::pair().expect("sockets");
    drop(other);
    Pmi1::greet(stream, 0, 2).expect_err("nobody is there");
}

proptest! {
    #[test]
    fn no_answers_make_the_client_panic(
        answers in "(cmd=(response_to_init|maxes|my_kvsname|get_result)[ a-z=0-9_(,)]{0,40}\n){0,5}",
    ) {
        let (stream, other) = UnixStream::pair().expect("sockets");
        (&other).write_all(answers.as_bytes()).expect("room");
        other.shutdown(std::net::Shutdown::Write).expect("open");
        let _ = Pmi1::greet(stream, 0, 2);
    }

    #[test]
    fn digits_round_trip(record in proptest::collection::vec(any::<u8>(), 0..40), text in "\\PC{0,9}") {
        let digits: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert_eq!(from_hex(&digits), Some(record));
        let _ = from_hex(&text);
    }
}

/// What srun of Slurm 22.05 with its plugin `pmi2` was heard to answer on two nodes: it is called for PMI-2, and speaks
/// PMI-1 to whoever begins with that.
const SLURM: [(&str, &str); 7] = [
    ("init", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"),
    ("get_maxes", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"),
    ("get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=1.0"),
    ("get", "cmd=get_result rc=0 value=(vector,(0,2,2))"),
    ("barrier_in", "cmd=barrier_out rc=0"),
    ("get", "cmd=get_result rc=1"),
    ("finalize", "cmd=finalize_ack rc=0"),
];

#[test]
fn slurm_is_understood_as_it_was_recorded() {
    let (stream, other) = UnixStream::pair().expect("sockets");
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut lines = BufReader::new(other.try_clone().expect("a descriptor")).lines();
            for (command, answer) in SLURM {
                let line = lines.next().expect("more is said").expect("text");
                assert_eq!(Line::parse(&line).expect("a line").command(), command);
                (&other).write_all(format!("{answer}\n").as_bytes()).expect("it listens");
            }
        });
        let mut client = Pmi1::greet(stream, 3, 4).expect("it speaks");
        assert_eq!(client.place.nodes, NodeMap::of([0, 0, 1, 1]));
        client.fence().expect("all come");
        client.get("nobodys", 0).expect_err("nobody has put it");
        client.leave();
    });
}
