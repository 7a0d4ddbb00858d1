use super::*;

fn message(source: i32, tag: i32, token: u64) -> Message {
    let header = Header { source, tag, token, ..Header::default() };
    Message { from: PeerId::of_rank(0), header, payload: Taken::EMPTY }
}

fn pattern(source: Option<i32>, tag: Option<i32>) -> Pattern {
    Pattern { source, tag }
}

#[test]
fn of_two_messages_that_match_the_earlier_is_taken() {
    let mut context = Context::default();
    for (source, tag, token) in [(0, 5, 1), (1, 7, 2), (0, 7, 3), (0, 7, 4)] {
        context.keep(message(source, tag, token));
    }
    let mut take = |source, tag| context.take_unexpected(&pattern(source, tag)).map(|m| m.header.token);
    assert_eq!(take(Some(0), Some(7)), Some(3));
    assert_eq!(take(None, Some(7)), Some(2));
    assert_eq!(take(Some(1), None), None);
    assert_eq!(take(None, None), Some(1));
    assert_eq!(take(None, None), Some(4));
}

#[test]
fn ranks_of_two_groups_are_never_mixed_up() {
    let local: Vec<i32> = (0..9).map(|rank| source(Peer::Local(rank))).collect();
    let remote: Vec<i32> = (0..9).map(|rank| source(Peer::Remote(rank))).collect();
    assert!(local.iter().all(|source| *source != Status::ANY && !remote.contains(source)));
    assert!(!remote.contains(&Status::ANY));
    assert_eq!(Source(local[3]).to_string(), "rank 3");
    assert_eq!(Source(remote[3]).to_string(), "rank 3 of the remote group");
}

#[test]
fn of_two_receives_that_match_the_earlier_is_taken() {
    let mut context = Context::default();
    let ops: Vec<OpKey> = (0..3).map(OpKey::from_word).collect();
    context.post(pattern(Some(1), None), ops[0]);
    context.post(pattern(None, Some(4)), ops[1]);
    context.post(pattern(Some(0), Some(4)), ops[2]);
    assert_eq!(context.take_posted(&message(0, 4, 0).header), Some(ops[1]));
    assert_eq!(context.take_posted(&message(0, 4, 0).header), Some(ops[2]));
    assert_eq!(context.take_posted(&message(0, 4, 0).header), None);
    assert!(context.withdraw(ops[0]) && !context.withdraw(ops[0]));
}

/// What a [`Context`] is to do, done by looking at all in order.
#[derive(Default)]
struct Model {
    posted: Vec<(Pattern, OpKey)>,
    unexpected: Vec<(PeerId, Header)>,
}

impl Model {
    fn take_posted(&mut self, header: &Header) -> Option<OpKey> {
        let place = self.posted.iter().position(|(pattern, _)| pattern.matches(header))?;
        Some(self.posted.remove(place).1)
    }

    fn place(&self, pattern: &Pattern) -> Option<usize> {
        self.unexpected.iter().position(|(_, header)| pattern.matches(header))
    }
}

/// A context, the model, and what was done to both.
struct Pair {
    context: Context,
    model: Model,
    random: u64,
    /// How many have come: the numbers of receives and messages.
    come: u64,
}

const SOURCES: [i32; 5] = [0, 1, 2, FIRST_REMOTE, FIRST_REMOTE - 1];
const TAGS: [i32; 5] = [-1, 0, 1, 2, i32::MAX];

impl Pair {
    fn below(&mut self, limit: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % limit
    }

    fn pattern(&mut self) -> Pattern {
        let kind = self.below(8);
        let (source, tag) = (SOURCES[self.below(5)], TAGS[self.below(5)]);
        pattern((kind & 3 != 0).then_some(source), (kind > 1).then_some(tag))
    }

    fn post(&mut self) {
        let (pattern, op) = (self.pattern(), OpKey::from_word(self.come));
        self.come += 1;
        self.context.post(pattern, op);
        self.model.posted.push((pattern, op));
    }

    fn arrive(&mut self, is_matched: bool) {
        let from = PeerId::of_rank(self.below(2) as u32);
        // Whatever is not eager can be retracted.
        let kind = [kind::EAGER, kind::EAGER + 1][self.below(2)];
        let (source, tag) = (SOURCES[self.below(5)], TAGS[self.below(5)]);
        let header = Header { kind, source, tag, token: self.come, ..Header::default() };
        self.come += 1;
        if is_matched {
            let taken = self.context.take_posted(&header);
            assert_eq!(taken, self.model.take_posted(&header));
            if taken.is_some() {
                return;
            }
        }
        self.context.keep(Message { from, header, payload: Taken::EMPTY });
        self.model.unexpected.push((from, header));
    }

    fn ask(&mut self, takes: bool) {
        let pattern = self.pattern();
        let place = self.model.place(&pattern);
        let expected = place.map(|place| self.model.unexpected[place]);
        let seen = self.context.peek(&pattern).map(|message| (message.from, message.header));
        assert_eq!(seen, expected, "{pattern:?}");
        if takes {
            let taken = self.context.take_unexpected(&pattern);
            assert_eq!(taken.map(|message| (message.from, message.header)), expected);
            place.map(|place| self.model.unexpected.remove(place));
        }
    }

    fn withdraw(&mut self) {
        let op = OpKey::from_word(self.below(self.come as usize + 1) as u64);
        let place = self.model.posted.iter().position(|(_, posted)| *posted == op);
        assert_eq!(self.context.withdraw(op), place.is_some());
        place.map(|place| self.model.posted.remove(place));
    }

    fn retract(&mut self) {
        let (from, token) =
            (PeerId::of_rank(self.below(2) as u32), self.below(self.come as usize + 1) as u64);
        let is_meant = |&(peer, header): &(PeerId, Header)| {
            peer == from && header.token == token && header.kind != kind::EAGER
        };
        let place = self.model.unexpected.iter().position(is_meant);
        let taken = self.context.retract(from, token);
        assert_eq!(
            taken.map(|message| message.header),
            place.map(|place| self.model.unexpected.remove(place).1)
        );
    }

    fn refuse(&mut self) {
        let refused = self.context.refuse(|message| message.header.kind != kind::EAGER);
        let unexpected = std::mem::take(&mut self.model.unexpected);
        let waits = |(_, header): &(PeerId, Header)| header.kind != kind::EAGER;
        let expected: Vec<(PeerId, Header)>;
        (expected, self.model.unexpected) = unexpected.into_iter().partition(waits);
        assert_eq!(headers(refused), expected);
    }

    fn drain(&mut self) {
        let (posted, unexpected) = self.context.drain();
        let expected: Vec<_> = self.model.posted.drain(..).map(|(_, op)| op).collect();
        assert_eq!((posted, headers(unexpected)), (expected, std::mem::take(&mut self.model.unexpected)));
        assert!(self.context.has_no_posted());
    }
}

fn headers(messages: Vec<Message>) -> Vec<(PeerId, Header)> {
    messages.into_iter().map(|message| (message.from, message.header)).collect()
}

/// Semantics of Point-to-Point Communication, Order.
#[test]
fn at_any_depth_that_is_found_which_looking_at_all_in_order_finds() {
    for seed in 1..if cfg!(miri) { 3 } else { 60 } {
        let mut pair =
            Pair { context: Context::default(), model: Model::default(), random: seed << 20, come: 0 };
        // Sometimes more comes than goes, sometimes less.
        for (round, growth) in [9, 0, 5, 1, 9, 0].into_iter().enumerate() {
            for _ in 0..400 {
                match pair.below(20 + 2 * growth) {
                    0..=3 => pair.arrive(true),
                    4..=7 => pair.ask(true),
                    8..=9 => pair.ask(false),
                    10..=13 => pair.withdraw(),
                    14..=17 => pair.retract(),
                    18 if pair.below(60) == 0 => pair.refuse(),
                    19 if pair.below(60) == 0 => pair.drain(),
                    18.. if (round + seed as usize).is_multiple_of(2) => pair.post(),
                    _ => pair.arrive(false),
                }
                assert_eq!(pair.context.has_no_posted(), pair.model.posted.is_empty());
            }
        }
        pair.drain();
    }
}

#[test]
fn what_was_deep_gives_its_memory_back() {
    let mut context = Context::default();
    for in_order in [true, false, true] {
        for number in 0..1000 {
            context.post(pattern(Some(0), Some(number)), OpKey::from_word(number as u64));
        }
        for number in (0..1000).map(|number| if in_order { number } else { 999 - number }) {
            assert_eq!(
                context.take_posted(&message(0, number, 0).header),
                Some(OpKey::from_word(number as u64))
            );
        }
        assert!(context.has_no_posted() && context.posted.is_short());
    }
}
