//! Measures what messages over a network cost, as constants of a machine: for `OXMPI_MACHINE`, or for `prices` in
//! `endpoint.rs`.
//!
//!     cargo run --release -p oxmpi-libfabric --example prices -- tcp/lo
//!
//! On two hosts: start it with `tcp/eth0 there` on one, and give the address that it prints to `tcp/eth0 here ADDRESS`
//! on the other.

use std::env;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use oxmpi_fabric::{Access, Completion, Fabric, Of, Order, Place, Target};
use oxmpi_libfabric::Libfabric;
use oxmpi_mem::{Pool, Region};

/// Messages there and back, or one after the other.
const ROUNDS: usize = 20_000;
const SHORT_BYTES: usize = 64;
/// What is written into the other one's memory, as long messages are, and how often.
const LONG_BYTES: usize = 1 << 20;
const LONG_ROUNDS: usize = 500;
/// Messages that are under way in a stream.
const WINDOW: usize = 16;

/// One of the two.
struct End {
    fabric: Libfabric,
    peer: Target,
    memory: Region,
    receives: Region,
    /// What came last.
    last: Region,
    list: Vec<Completion>,
    sent: usize,
    came: usize,
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (network, rest) = arguments.split_first().expect("a network, as tcp/lo");
    let fabric = Libfabric::open_named(network).expect("there is such a network");
    let own = written(&fabric.address());
    match rest {
        [] => {
            let mut there = Command::new(env::current_exe().expect("this program"));
            there.args([network.as_str(), "there"]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut there = there.spawn().expect("another process");
            let mut line = String::new();
            let out = there.stdout.take().expect("it is piped");
            BufReader::new(out).read_line(&mut line).expect("its address");
            writeln!(there.stdin.take().expect("it is piped"), "{own}").expect("it reads");
            measure(End::new(fabric, line.trim()));
            there.wait().expect("it ends");
        }
        [role] if role == "there" => {
            println!("{own}");
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).expect("an address");
            answer(End::new(fabric, line.trim()));
        }
        [role, address] if role == "here" => {
            println!("{own}");
            measure(End::new(fabric, address));
        }
        _ => panic!("NETWORK, NETWORK there, or NETWORK here ADDRESS"),
    }
}

fn measure(mut end: End) {
    end.bounce(true, 100);
    let begin = Instant::now();
    end.bounce(true, ROUNDS);
    let way_ns = begin.elapsed().as_nanos() as f64 / (2 * ROUNDS) as f64;
    let short_ns = end.stream(ROUNDS);
    let byte_ns = end.write(LONG_ROUNDS) / LONG_BYTES as f64;
    // A message of a stream costs its sender that long; both ends of one that is waited for, twice.
    println!("net_latency_ns = {:.0}", (way_ns - 2.0 * short_ns).max(0.0));
    println!(
        "net_overhead_ns = {short_ns:.0}\nnet_gap_ns = {:.0}\nnet_byte_ns = {byte_ns:.3}",
        short_ns / 2.0
    );
}

fn answer(mut end: End) {
    end.bounce(false, 100);
    end.bounce(false, ROUNDS);
    end.take(ROUNDS);
    let open = end.fabric.register(end.memory, Access::Write).expect("a little memory");
    let words = [open.key.to_le_bytes(), open.address.to_le_bytes()].concat();
    end.memory.write(&words);
    end.send(words.len());
    end.take(1);
    end.send(SHORT_BYTES);
    end.until(|end| end.sent == 0);
}

impl End {
    fn new(mut fabric: Libfabric, peer: &str) -> Self {
        let peer = fabric.reach(&read(peer)).expect("an address of this network");
        let mut pool = Pool::default();
        let (memory, receives) = (*pool.take(LONG_BYTES), *pool.take(SHORT_BYTES * WINDOW));
        let last = Region::EMPTY;
        let mut end = Self { fabric, peer, memory, receives, last, list: Vec::new(), sent: 0, came: 0 };
        (0..WINDOW).for_each(|place| end.post(place));
        end
    }

    fn post(&mut self, place: usize) {
        let into = self.receives.part(place * SHORT_BYTES, SHORT_BYTES);
        while !self.fabric.receive(into, place as u64).is_accepted() {}
    }

    fn poll(&mut self) {
        let mut list = std::mem::take(&mut self.list);
        self.fabric.completions(WINDOW, &mut list);
        for one in list.drain(..) {
            assert!(one.failure.is_none(), "{one:?}");
            match one.of {
                Of::Sent(_) | Of::Written(_) => self.sent -= 1,
                Of::Received(place, _) => {
                    self.came += 1;
                    self.last = self.receives.part(place as usize * SHORT_BYTES, SHORT_BYTES);
                    self.post(place as usize);
                }
                other => panic!("{other:?}"),
            }
        }
        self.list = list;
    }

    fn until(&mut self, is: impl Fn(&Self) -> bool) {
        while !is(self) {
            self.poll();
        }
    }

    fn send(&mut self, bytes: usize) {
        self.send_in(Order::Any, bytes);
    }

    fn send_in(&mut self, order: Order, bytes: usize) {
        let message = self.memory.part(0, bytes);
        while !self.fabric.send(self.peer, message, order, 0).is_accepted() {
            self.poll();
        }
        self.sent += 1;
    }

    fn take(&mut self, messages: usize) {
        self.until(|end| end.came >= messages);
        self.came -= messages;
    }

    fn bounce(&mut self, begins: bool, rounds: usize) {
        for _ in 0..rounds {
            if begins {
                self.send(SHORT_BYTES);
            }
            self.take(1);
            if !begins {
                self.send(SHORT_BYTES);
            }
        }
        self.until(|end| end.sent == 0);
    }

    /// How long a short message takes, of many; then the other one has told where its memory is.
    fn stream(&mut self, rounds: usize) -> f64 {
        let begin = Instant::now();
        for _ in 0..rounds {
            self.until(|end| end.sent < WINDOW);
            self.send(SHORT_BYTES);
        }
        self.take(1);
        begin.elapsed().as_nanos() as f64 / rounds as f64
    }

    /// How long it takes to write a long piece into that memory, of many.
    fn write(&mut self, rounds: usize) -> f64 {
        let word = |at: usize| {
            let bytes = self.last.part(8 * at, 8).to_vec();
            u64::from_le_bytes(bytes.try_into().expect("8 bytes"))
        };
        let place = Place { key: word(0), address: word(1) };
        let begin = Instant::now();
        for _ in 0..rounds {
            self.until(|end| end.sent < 4);
            while !self.fabric.write(self.peer, self.memory, place, None, Order::Any, 0).is_accepted() {
                self.poll();
            }
            self.sent += 1;
        }
        // The answer says that all is there.
        self.send_in(Order::After, SHORT_BYTES);
        self.take(1);
        begin.elapsed().as_nanos() as f64 / rounds as f64
    }
}

fn written(address: &[u8]) -> String {
    address.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn read(address: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&address[at..at + 2], 16).expect("as it was printed");
    (0..address.len()).step_by(2).map(byte).collect()
}
