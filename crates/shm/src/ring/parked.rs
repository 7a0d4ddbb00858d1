//! Rings that nobody looks at.
//!
//! Who reads many rings looks only at those by which something has come lately. The others it parks: it says so beside
//! the credit, and the sender, which looks there after every message, *knocks* then. A sender costs that one load of a
//! line that hardly ever changes, and no fence: the parker pays, as a sleeper does (see the module `sleepers`). When it
//! has said that it parks a ring, and before it looks there once more, every running process passes a barrier: a
//! sender either published before, and that is seen, or loads what the parker has said, and knocks.

use super::{Receiver, Sender};
use crate::membarrier;
use crate::sync::Ordering;

/// Parks the rings by which nothing comes; whether each of them is parked now. None is where the system has no barrier.
pub fn park(idle: &[&Receiver]) -> Vec<bool> {
    let say = |receiver: &&Receiver, parked| receiver.credit.parked.0.store(parked, Ordering::Relaxed);
    idle.iter().for_each(|receiver| say(receiver, 1));
    let seen_by_all = membarrier::pass_by_all();
    let stays = |receiver: &&Receiver| {
        let stays = seen_by_all && !receiver.has_arrival();
        if !stays {
            say(receiver, 0);
        }
        stays
    };
    idle.iter().map(stays).collect()
}

impl Sender {
    /// Whether the receiver, for which a message was just sent off, does not look any more; true once for each time
    /// that it has parked the ring.
    #[inline]
    pub fn must_knock(&self) -> bool {
        self.credit.parked.0.load(Ordering::Relaxed) != 0 && self.unpark()
    }

    #[cold]
    fn unpark(&self) -> bool {
        self.credit.parked.0.swap(0, Ordering::Relaxed) != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::{Header, testing};
    use super::*;

    #[test]
    fn a_ring_is_parked_if_nothing_comes_by_it_and_its_sender_knocks_once() {
        membarrier::register();
        let [(mut busy, coming), (mut idle, silent)] = [4, 4].map(|cells| testing::ring(cells, 256));
        busy.room(0).expect("empty").send(Header::default());
        let parked = park(&[&coming, &silent]);
        assert!(!parked[0] && !busy.must_knock());
        assert_eq!(parked[1], cfg!(not(miri)));
        for round in 0..2 {
            idle.room(0).expect("there is room").send(Header::default());
            assert_eq!(idle.must_knock(), parked[1] && round == 0);
        }
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::super::{Header, testing};
    use super::*;
    use crate::membarrier::modelled::{interruptible, no_longer_running};

    #[test]
    fn a_message_is_seen_or_its_sender_knocks() {
        loom::model(|| {
            let (mut sender, receiver) = testing::ring(1, 256);
            let writer = loom::thread::spawn(move || {
                interruptible();
                sender.room(0).expect("an empty ring").send(Header::default());
                interruptible();
                let must_knock = sender.must_knock();
                no_longer_running();
                must_knock
            });
            let is_parked = park(&[&receiver])[0];
            let knocked = writer.join().expect("the sender does not panic");
            assert!(!is_parked || knocked, "nobody looks there");
        });
    }
}
