//! Who starts agents for the launcher, where there are many hosts.
//!
//! To reach a host takes a process here, and some ten milliseconds. So the launcher of a job on more than
//! [`BRANCHES`] hosts starts as many *relays* as the root of their number, on hosts of their own, and each of these
//! starts agents on as many hosts: with 10,000 hosts everybody starts 100. Agents connect to the launcher all the same,
//! since each word of theirs concerns the whole job; what they print goes by the relay.

use oxmpi_broker::Link;

use super::agents::{Runner, tell};
use crate::presence::Presence;
use crate::talk::ToAgent;

/// On so many hosts at most the launcher starts agents itself.
pub const BRANCHES: u32 = 32;

/// A relay, as its launcher knows it.
#[derive(Debug)]
pub struct Relay {
    /// Where it is: the host of its first agent.
    pub host: String,
    /// What has started it.
    pub runner: Runner,
    /// The agents that it starts, by number.
    pub members: Vec<usize>,
    /// Those of them of which it has not told that what has started them has ended.
    running: Vec<usize>,
    /// The connection with it, while there is one.
    pub link: Option<Link>,
    /// Whether it has ever come.
    pub has_come: bool,
    /// When it was heard last.
    pub presence: Presence,
}

impl Relay {
    pub fn new(host: String, runner: Runner, members: Vec<usize>) -> Self {
        let running = members.clone();
        Self { host, runner, members, running, link: None, has_come: false, presence: Presence::now() }
    }

    /// What has started an agent has ended, it says; whether that is one of its own, and was not told before.
    pub fn note_exit(&mut self, agent: usize) -> bool {
        let place = self.running.iter().position(|&member| member == agent);
        place.map(|place| self.running.swap_remove(place)).is_some()
    }

    /// Whether it may go: it has told of all ends. What its agents say of themselves comes by other ways, and may come
    /// later.
    pub fn is_done(&self) -> bool {
        self.running.is_empty()
    }

    /// Whether nothing more is to be heard of it.
    pub fn is_over(&self) -> bool {
        self.link.is_none() && self.runner.has_exited
    }

    /// Tells it something, if it is there.
    pub fn tell(&mut self, what: &ToAgent) {
        tell(&mut self.link, what);
    }
}

/// The agents of each relay, if there are to be any: neighbours together, and nobody has two more than another.
pub fn groups(agents: Vec<usize>, branches: u32) -> Vec<Vec<usize>> {
    if agents.len() <= branches as usize {
        return Vec::new();
    }
    let count = agents.len().isqrt();
    let (each, more) = (agents.len() / count, agents.len() % count);
    let mut rest = agents.into_iter();
    (0..count).map(|group| rest.by_ref().take(each + usize::from(group < more)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_relay_is_done_when_it_has_told_the_end_of_each_of_its_agents() {
        let handle = std::fs::File::open("/dev/null").expect("it is there").into();
        let runner = Runner { pid: rustix::process::getpid(), handle, has_exited: true };
        let mut relay = Relay::new("a".to_owned(), runner, vec![3, 5]);
        let told = [3, 4, 3, 5].map(|agent| (relay.note_exit(agent), relay.is_done()));
        assert_eq!(told, [(true, false), (false, false), (false, false), (true, true)]);
    }

    #[test]
    fn few_hosts_need_nobody_in_between() {
        assert!(groups((0..32).collect(), BRANCHES).is_empty());
        assert_eq!(groups(vec![1, 2, 3, 5], 3), [vec![1, 2], vec![3, 5]]);
        assert_eq!(groups((0..10_000).collect(), BRANCHES).len(), 100);
    }

    proptest! {
        #[test]
        fn each_agent_has_one_relay_and_nobody_starts_many(count in 2_usize..3000) {
            let groups = groups((0..count).collect(), 1);
            prop_assert_eq!(groups.concat(), (0..count).collect::<Vec<_>>());
            let lengths = || groups.iter().map(Vec::len);
            let (least, most) = (lengths().min(), lengths().max());
            prop_assert!(least >= Some(1) && most <= least.map(|least| least + 1));
            let root = count.isqrt();
            prop_assert!(groups.len() <= root && most <= Some(root + 3));
        }
    }
}
