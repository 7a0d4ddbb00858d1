//! All endpoints, and what is on its way between them.

use std::collections::BTreeMap;

use oxmpi_mem::Region;

use super::endpoint::{Arrived, Endpoint};
use super::random::Random;
use super::{Conduct, Taking, Traffic};
use crate::{Access, Completion, Failure, Of, Order, Place, Posted, Target};

/// See the module.
#[derive(Debug)]
pub(super) struct World {
    conduct: Conduct,
    random: Random,
    now: u64,
    endpoints: Vec<Endpoint>,
    /// By when it happens, and when it was decided on.
    events: BTreeMap<(u64, u64), Event>,
    decided: u64,
    traffic: Traffic,
    /// Nothing is accepted but receives.
    pub is_shut: bool,
}

/// What an endpoint may post to a peer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Read { place: Place, into: Region, context: u64 },
    Send { pieces: [Region; 2], context: u64 },
    Write { from: Region, place: Place, data: Option<u32>, context: u64 },
}

#[derive(Debug)]
struct Event {
    from: usize,
    to: usize,
    action: Action,
    stage: Stage,
}

/// How far something has come.
#[derive(Debug)]
enum Stage {
    /// It departs, to arrive then.
    Departs { arrives: u64 },
    /// The first part of it arrives, and the rest then.
    Begins { bytes: Vec<u8>, is_told: bool, arrives: u64 },
    /// It arrives with these bytes; whether the sender was told already.
    Arrives { bytes: Vec<u8>, is_told: bool },
    /// The rest of a write arrives, and where that goes.
    Ends { rest: Vec<u8>, into: Region, is_told: bool },
    /// What was read comes back, or nothing.
    Returns { bytes: Option<Vec<u8>> },
}

/// What stands before the number of an endpoint in its address.
const ADDRESS: &[u8] = b"sim:";

impl World {
    pub(super) fn new(seed: u64, conduct: Conduct) -> Self {
        let (random, events) = (Random::new(seed), BTreeMap::new());
        let traffic = Traffic::default();
        let (endpoints, is_shut) = (Vec::new(), false);
        Self { conduct, random, now: 0, endpoints, events, decided: 0, traffic, is_shut }
    }

    pub(super) fn conduct(&self) -> &Conduct {
        &self.conduct
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn traffic(&self) -> Traffic {
        self.traffic
    }

    pub(super) fn registered(&self) -> usize {
        self.endpoints.iter().map(Endpoint::registered).sum()
    }

    pub(super) fn open(&mut self) -> usize {
        self.endpoints.push(Endpoint::default());
        self.endpoints.len() - 1
    }

    pub(super) fn address(endpoint: usize) -> Vec<u8> {
        [ADDRESS, endpoint.to_string().as_bytes()].concat()
    }

    /// The endpoint with an address; one that is dead still has its own.
    pub(super) fn find(&self, address: &[u8]) -> Option<usize> {
        let number = str::from_utf8(address.strip_prefix(ADDRESS)?).ok()?.parse().ok()?;
        (number < self.endpoints.len() && Self::address(number) == address).then_some(number)
    }

    pub(super) fn let_take(&mut self, endpoint: usize, taking: Taking) {
        self.endpoints[endpoint].taking = taking;
    }

    pub(super) fn starve(&mut self, endpoint: usize) {
        self.endpoints[endpoint].is_starved = true;
    }

    pub(super) fn is_starved(&self, endpoint: usize) -> bool {
        self.endpoints[endpoint].is_starved
    }

    pub(super) fn kill(&mut self, endpoint: usize) {
        let waiting = self.endpoints[endpoint].die();
        for (from, sent) in waiting.into_iter().filter_map(|one| Some((one.from, one.context?))) {
            self.endpoints[from].complete(Of::Sent(sent), Some(Failure::Gone));
        }
        let random = &mut self.random;
        self.events.retain(|_, event| {
            let is_lost = match event.stage {
                // Who has the rest itself takes it along.
                Stage::Departs { .. } | Stage::Ends { .. } | Stage::Returns { .. } => true,
                Stage::Arrives { .. } | Stage::Begins { .. } => random.is_one_in(2),
            };
            event.from != endpoint || !is_lost
        });
    }

    /// What others know a piece of memory as; none if there are too many already.
    pub(super) fn register(&mut self, endpoint: usize, memory: Region, access: Access) -> Option<Place> {
        let key = self.random.word();
        let has_room = self.endpoints[endpoint].registered() < self.conduct.registered;
        has_room.then(|| {
            self.endpoints[endpoint].register(key, memory, access);
            Place { key, address: 0 }
        })
    }

    pub(super) fn unregister(&mut self, endpoint: usize, place: Place) {
        self.endpoints[endpoint].unregister(place.key);
    }

    pub(super) fn receive(&mut self, me: usize, into: Region, context: u64) -> Posted {
        let is_refused = self.random.is_one_in(self.conduct.refuses);
        let endpoint = &mut self.endpoints[me];
        if is_refused || endpoint.is_dead || endpoint.receives.len() >= self.conduct.limits.receives {
            return Posted::NotNow;
        }
        endpoint.receives.push_back((into, context));
        self.deliver(me);
        Posted::Yes
    }

    pub(super) fn post(&mut self, me: usize, to: Target, order: Order, action: Action) -> Posted {
        let is_refused = self.is_shut || self.random.is_one_in(self.conduct.refuses);
        let takes_nothing = self.endpoints[to.0 as usize].taking == Taking::Nothing;
        let endpoint = &mut self.endpoints[me];
        if is_refused
            || takes_nothing
            || endpoint.is_dead
            || endpoint.under_way >= self.conduct.limits.under_way
        {
            return Posted::NotNow;
        }
        endpoint.under_way += 1;
        match action {
            Action::Read { .. } => self.traffic.reads += 1,
            Action::Send { .. } => self.traffic.sends += 1,
            Action::Write { .. } => self.traffic.writes += 1,
        }
        if endpoint.is_starved {
            let of = match action {
                Action::Read { context, .. } => Of::Read(context),
                Action::Send { context, .. } => Of::Sent(context),
                Action::Write { context, .. } => Of::Written(context),
            };
            endpoint.complete(of, Some(Failure::Gone));
            return Posted::Yes;
        }
        let (least, most) = self.conduct.delay;
        let departs = self.now + self.random.between(0, most);
        let mut arrives = departs + self.random.between(least, most);
        let to = to.0 as usize;
        let pair = endpoint.pairs.entry(to).or_default();
        if order == Order::After || !self.conduct.reorders {
            pair.floor = pair.floor.max(pair.last + 1);
        }
        arrives = arrives.max(pair.floor);
        pair.last = pair.last.max(arrives);
        self.note(departs, Event { from: me, to, action, stage: Stage::Departs { arrives } });
        Posted::Yes
    }

    fn note(&mut self, when: u64, event: Event) {
        self.decided += 1;
        self.events.insert((when, self.decided), event);
    }

    /// Lets happen what is due, and the clock move on.
    pub(super) fn tick(&mut self) {
        self.now += 1;
        while let Some(first) = self.events.first_entry()
            && first.key().0 <= self.now
        {
            let event = first.remove();
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        let Event { from, to, action, stage } = match self.endpoints[event.to].taking {
            Taking::Later => return self.note(self.now + 1, event),
            _ => event,
        };
        match stage {
            Stage::Departs { arrives } => {
                let bytes = match action {
                    Action::Read { .. } => Vec::new(),
                    Action::Send { pieces, .. } => pieces.map(|piece| piece.to_vec()).concat(),
                    Action::Write { from, .. } => from.to_vec(),
                };
                let over = match action {
                    Action::Send { context, .. } => Some(Of::Sent(context)),
                    Action::Write { context, .. } => Some(Of::Written(context)),
                    Action::Read { .. } => None,
                };
                // Where messages wait for receives already, who sends more is to wait with them.
                let has_room = self.endpoints[to].arrived.len() < self.conduct.limits.receives;
                let told = over.filter(|_| has_room && self.random.is_one_in(2));
                let is_told = told.is_some();
                told.into_iter().for_each(|over| self.endpoints[from].complete(over, None));
                let (when, stage) = match action {
                    Action::Write { data: None, .. } if self.conduct.tears && bytes.len() > 1 => {
                        (self.random.between(self.now, arrives), Stage::Begins { bytes, is_told, arrives })
                    }
                    _ => (arrives, Stage::Arrives { bytes, is_told }),
                };
                self.note(when, Event { from, to, action, stage });
            }
            Stage::Begins { mut bytes, is_told, arrives } => {
                let Action::Write { place, .. } = action else { return };
                let memory = self.endpoints[to].memory(place, bytes.len(), Access::Write);
                let stage = match memory {
                    None => Stage::Arrives { bytes, is_told }, // as then
                    Some(memory) => {
                        let rest = bytes.split_off(bytes.len() / 2);
                        memory.part(0, bytes.len()).write(&bytes);
                        let into = memory.part(bytes.len(), rest.len());
                        Stage::Ends { rest, into, is_told }
                    }
                };
                self.note(arrives, Event { from, to, action, stage });
            }
            Stage::Ends { rest, into, is_told } => {
                let Action::Write { context, .. } = action else { return };
                let is_alive = !self.endpoints[to].is_dead;
                if is_alive {
                    into.write(&rest);
                }
                if !is_told {
                    self.conclude(from, to, Of::Written(context), is_alive);
                }
            }
            Stage::Arrives { bytes, is_told } => self.arrive(from, to, action, bytes, is_told),
            Stage::Returns { bytes } => {
                let Action::Read { into, context, .. } = action else { return };
                bytes.iter().for_each(|bytes| into.write(bytes));
                self.conclude(from, to, Of::Read(context), bytes.is_some());
            }
        }
    }

    fn arrive(&mut self, from: usize, to: usize, action: Action, bytes: Vec<u8>, is_told: bool) {
        match action {
            Action::Read { place, into, .. } => {
                let memory = self.endpoints[to].memory(place, into.len(), Access::Read);
                let bytes = memory.map(|memory| memory.to_vec());
                let (least, most) = self.conduct.delay;
                let returns = self.now + self.random.between(least, most);
                self.note(returns, Event { from, to, action, stage: Stage::Returns { bytes } });
            }
            Action::Send { context, .. } if self.endpoints[to].is_dead => {
                if !is_told {
                    self.endpoints[from].complete(Of::Sent(context), Some(Failure::Gone));
                }
            }
            Action::Send { context, .. } => {
                let context = (!is_told).then_some(context);
                self.endpoints[to].arrived.push_back(Arrived { from, bytes, context });
                self.deliver(to);
            }
            Action::Write { place, data, context, .. } => {
                let memory = self.endpoints[to].memory(place, bytes.len(), Access::Write);
                if let Some(memory) = memory {
                    memory.write(&bytes);
                    data.into_iter().for_each(|data| self.endpoints[to].complete(Of::Told(data), None));
                }
                if !is_told {
                    self.conclude(from, to, Of::Written(context), memory.is_some());
                }
            }
        }
    }

    /// A read or a write is over.
    fn conclude(&mut self, from: usize, to: usize, of: Of, is_done: bool) {
        let why = if self.endpoints[to].is_dead { Failure::Gone } else { Failure::Refused };
        self.endpoints[from].complete(of, (!is_done).then_some(why));
    }

    /// Puts messages that have arrived into receives that wait.
    fn deliver(&mut self, to: usize) {
        let mut told = Vec::new();
        let endpoint = &mut self.endpoints[to];
        while !endpoint.arrived.is_empty()
            && let Some((into, context)) = endpoint.receives.pop_front()
        {
            let Some(Arrived { from, bytes, context: sent }) = endpoint.arrived.pop_front() else { return };
            let fits = bytes.len().min(into.len());
            into.write(&bytes[..fits]);
            let failure = (fits < bytes.len()).then_some(Failure::Truncated);
            endpoint.complete(Of::Received(context, fits), failure);
            told.extend(sent.map(|sent| (from, sent)));
        }
        for (from, sent) in told {
            self.endpoints[from].complete(Of::Sent(sent), None);
        }
    }

    pub(super) fn complete(&mut self, me: usize, most: usize, list: &mut Vec<Completion>) {
        let Self { endpoints, random, conduct, .. } = self;
        for _ in 0..most {
            let random = conduct.reorders.then_some(&mut *random);
            let Some(next) = endpoints[me].next_completion(random) else { return };
            list.push(next);
        }
    }
}
