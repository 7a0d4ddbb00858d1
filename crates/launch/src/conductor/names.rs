//! The names that jobs on all hosts have published.

use std::collections::BTreeMap;

/// By name: the agent of the host on which it was published, and the port.
#[derive(Debug, Default)]
pub struct Names(BTreeMap<String, (usize, String)>);

impl Names {
    /// Publishes a name for an agent; false if it is published already.
    pub fn publish(&mut self, agent: usize, service: String, port: String) -> bool {
        let is_free = !self.0.contains_key(&service);
        if is_free {
            self.0.insert(service, (agent, port));
        }
        is_free
    }

    /// Withdraws what an agent has published.
    pub fn withdraw(&mut self, agent: usize, service: &str) {
        if self.0.get(service).is_some_and(|(of, _)| *of == agent) {
            self.0.remove(service);
        }
    }

    /// The port that is published under a name.
    pub fn look_up(&self, service: &str) -> Option<String> {
        self.0.get(service).map(|(_, port)| port.clone())
    }

    /// All that an agent has published is so no more.
    pub fn forget(&mut self, agent: usize) {
        self.0.retain(|_, (of, _)| *of != agent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_publisher_who_alone_withdraws_it() {
        let mut names = Names::default();
        assert!(names.publish(1, "a".to_owned(), "one".to_owned()));
        assert!(!names.publish(2, "a".to_owned(), "two".to_owned()));
        names.withdraw(2, "a");
        assert_eq!(names.look_up("a").as_deref(), Some("one"));
        names.withdraw(1, "a");
        assert!(names.look_up("a").is_none() && names.publish(2, "a".to_owned(), "two".to_owned()));
        names.forget(1);
        assert_eq!(names.look_up("a").as_deref(), Some("two"));
        names.forget(2);
        assert_eq!(names.look_up("a"), None);
    }
}
